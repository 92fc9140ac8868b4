// FusedBottleneck by kernels of ours.
#include <functional>

#include "device/cuda/plugin/kernels/bottleneck/cluster_bottleneck.hpp"
#include "device/cuda/plugin/kernels/bottleneck/pipelined_bottleneck.hpp"
#include "device/cuda/plugin/tactics/activation_bounds.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using tensor::DType;

/// Refuses what none of the kernels takes.
Refusal read_size(const StepRequest& request, Bottleneck& size) {
  const graph::Node& node = request.node;
  if (request.outputs[0].dtype != DType::kFloat32) return "only float32 models";
  if (tensor::dtype_size(request.compute_dtype) != 2) return "only fp16 and bf16";
  // They are read before the kernel ahead has ended.
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (i != 4 && node.has_input(i) && !request.graph.value(node.inputs[i]).constant)
      return fmt::format("input {} is not constant", i);
  }
  for (const auto& [prefix, bounds] :
       {std::pair("window_", &size.window_bounds), std::pair("wide_", &size.wide_bounds),
        std::pair("narrow_", &size.narrow_bounds)}) {
    if (Refusal reason = read_activation_bounds(node, prefix, *bounds)) return reason;
  }
  const engine::Shape& x = request.inputs[0].shape;
  const engine::Shape& window = request.inputs[1].shape;
  const engine::Shape& expand = request.inputs[2].shape;
  size.projects = node.has_input(8);
  size.channels = window[0];
  if (window[1] != size.channels || (size.projects && request.inputs[4].shape[1] != size.channels))
    return fmt::format("not {} channels throughout", size.channels);
  if (expand[0] != size.wide()) return fmt::format("{} channels, not {}", expand[0], size.wide());
  size.batch = x[0];
  size.height = x[2];
  size.width = x[3];
  size.next = node.has_input(3) ? request.inputs[3].shape[0] : 0;
  return {};
}

/// Where weights go; an empty function where they stay as they are.
struct FilterPlaces {
  FragmentPlace window;
  FragmentPlace expand;
  FragmentPlace next;
};

FilterPlaces usual_places(const Bottleneck& size) {
  const int64_t channels = size.channels;
  if (channels == Bottleneck::kChannels) return {};
  return {
      [=](int64_t k, int64_t tap, int64_t c) { return ClusterBottleneck::window_index(channels, k, tap, c); },
      [=](int64_t k, int64_t, int64_t c) { return ClusterBottleneck::expand_index(channels, k, c); },
      [=](int64_t k, int64_t, int64_t c) { return ClusterBottleneck::next_index(channels, k, c); }};
}

FilterPlaces pipelined_places(const Bottleneck& size) {
  FilterPlaces places{PipelinedBottleneck::window_index,
                      [](int64_t k, int64_t, int64_t c) { return PipelinedBottleneck::expand_index(k, c); },
                      {}};
  if (PipelinedBottleneck::next_in_registers(size.next))
    places.next = [](int64_t k, int64_t, int64_t c) { return PipelinedBottleneck::next_index(k, c); };
  return places;
}

/// A kernel, and what it is called.
struct Way {
  std::string_view name;
  const char* order;  ///< of weights
  Refusal (*refusal)(const Bottleneck& size, const DeviceProperties& device);
  FilterPlaces (*places)(const Bottleneck& size);
  cudaError_t (*launch)(const BottleneckArgs& args, FloatType type, const Bottleneck& size,
                        const LaunchOptions& options);
};

constexpr Way kUsual = {"bottleneck", "fragments", bottleneck_refusal, usual_places, bottleneck};
constexpr Way kPipelined = {"pipelined_bottleneck", "pipelined", pipelined_bottleneck_refusal,
                            pipelined_places, pipelined_bottleneck};

Offer offer_bottleneck(Gpu& gpu, const Way& way, const StepRequest& request, engine::WeightStore& weights) {
  Bottleneck size;
  Refusal reason = read_size(request, size);
  if (!reason) reason = way.refusal(size, gpu.properties());
  if (reason) return Offer::refuse(std::move(reason));
  const DType dtype = request.compute_dtype;
  const auto image = [&](const engine::Shape& shape) {
    return engine::TensorDesc{dtype, shape, Layout::kChannelsLast};
  };
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  for (const size_t i : {0, 4}) offer.inputs[i] = image(request.inputs[i].shape);
  for (const size_t i : {5, 6, 7, 9}) {
    if (request.node.has_input(i))
      offer.inputs[i] = {DType::kFloat32, request.inputs[i].shape, Layout::kPlain};
  }
  for (const engine::TensorDesc& output : request.outputs) offer.outputs.push_back(image(output.shape));
  const FilterPlaces places = way.places(size);
  const auto pack = [&](size_t operand, const FragmentPlace& place) {
    PackedConstant filter = place ? pack_fragments(gpu, request, operand, dtype, way.order, place, weights)
                                  : pack_filter(gpu, request, operand, dtype, FilterOrder::kKrsc,
                                                request.inputs[operand].shape[1], weights);
    offer.packed.push_back(filter.key);
    return filter.device;
  };
  const auto window = pack(1, places.window);
  const auto expand = pack(2, places.expand);
  const auto next = size.next == 0 ? nullptr : pack(3, places.next);
  const auto projection = size.projects ? pack(8, {}) : nullptr;
  const auto launch = [=, type = float_type(dtype), run = way.launch](std::span<const void* const> inputs,
                                                                      std::span<void* const> outputs, void*,
                                                                      const LaunchOptions& options) {
    const auto bias = [&](size_t i) {
      return i < inputs.size() ? static_cast<const float*>(inputs[i]) : nullptr;
    };
    const BottleneckArgs args{inputs[0],
                              inputs[4],
                              window->data(),
                              expand->data(),
                              next ? next->data() : nullptr,
                              projection ? projection->data() : nullptr,
                              bias(5),
                              bias(6),
                              bias(7),
                              bias(9),
                              outputs[0],
                              size.next == 0 ? nullptr : outputs[1]};
    return run(args, type, size, options);
  };
  offer.kernel = std::make_shared<LaunchKernel>("a bottleneck", launch, size.batch != 0,
                                                ClusterBottleneck::takes(size.channels));
  return offer;
}

}  // namespace

void add_bottleneck_tactics(TacticList& list, Gpu& gpu) {
  for (const Way* way : {&kUsual, &kPipelined}) {
    list.push_back({.name = std::string(way->name),
                    .operators = {"FusedBottleneck"},
                    .make = std::bind_front(offer_bottleneck, std::ref(gpu), std::cref(*way))});
  }
}

}  // namespace hone::device::cuda
