// Runs bottleneck regions with hone's own kernels.
#include "device/cuda/plugin/tactics/activation_bounds.hpp"
#include "device/cuda/plugin/tactics/region_parts.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"
#include "device/cuda/regions/bottleneck/plugin/kernels/cluster_bottleneck.hpp"
#include "device/cuda/regions/bottleneck/plugin/kernels/pipelined_bottleneck.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using tensor::DType;

/// The parts of a bottleneck: 3 x 3 and 1 x 1 convolutions; the last one except `next` adds the shortcut.
struct BottleneckParts {
  explicit BottleneckParts(const StepRequest& request) : parts(request) {
    const std::string& form = parts.form();
    const bool projects = form.find(" project=") != form.npos;
    const bool narrows = form.find(" next=") != form.npos;
    const char* const wide = projects ? "project" : "expand";
    if (form != fmt::format("window=Conv expand=Conv(0:window){}{} -> {}{}",
                            projects ? " project=Conv(3:expand)" : "",
                            narrows ? fmt::format(" next=Conv(0:{})", wide) : "", wide,
                            narrows ? " next" : ""))
      return;
    window = &parts.part("window");
    expand = &parts.part("expand");
    if (projects) project = &parts.part("project");
    if (narrows) next = &parts.part("next");
  }

  /// True if the region has another form than a bottleneck.
  bool unknown() const { return window == nullptr; }
  /// The part that adds the shortcut.
  const RegionPart& last() const { return project == nullptr ? *expand : *project; }
  /// Index of the shortcut among the region's inputs, or of the image from which it is projected.
  int shortcut() const {
    return project == nullptr ? expand->operands.position(3) : project->operands.position(0);
  }
  std::vector<const RegionPart*> all() const {
    std::vector<const RegionPart*> result;
    for (const RegionPart* part : {window, expand, project, next}) {
      if (part != nullptr) result.push_back(part);
    }
    return result;
  }

  RegionParts parts;
  const RegionPart* window = nullptr;
  const RegionPart* expand = nullptr;
  const RegionPart* project = nullptr;  ///< null if the shortcut is added unchanged
  const RegionPart* next = nullptr;     ///< null if there is none
};

/// True if its first post-op adds a tensor with the size of its result.
bool adds_first(const RegionPart& part) {
  const auto post_ops = part.node.attributes.get_or<std::vector<std::string>>("post_ops", {});
  return !post_ops.empty() && post_ops[0] == "add" &&
         part.request.inputs[3].shape == part.request.outputs[0].shape;
}

Refusal read_bounds(const BottleneckParts& parts, Bottleneck& size) {
  if (!adds_first(parts.last())) return fmt::format("'{}' adds no shortcut", parts.last().node.name);
  if (parts.project != nullptr && parts.expand->node.op != "Conv")
    return "something lies between the expansion and the addition";
  if (Refusal reason = read_activation_bounds(parts.window->node, 0, size.window_bounds)) return reason;
  if (Refusal reason = read_activation_bounds(parts.last().node, 1, size.wide_bounds)) return reason;
  return parts.next == nullptr ? Refusal() : read_activation_bounds(parts.next->node, 0, size.narrow_bounds);
}

/// Refuses what none of the kernels supports.
Refusal read_size(const BottleneckParts& parts, Bottleneck& size) {
  if (parts.unknown()) return "its body is no bottleneck";
  for (const RegionPart* part : parts.all()) {
    // They are read before the previous kernel has ended.
    for (const size_t i : {1, 2}) {
      if (part->node.has_input(i) && !part->is_constant(i))
        return fmt::format("operand {} of '{}' is not constant", i, part->node.name);
    }
    if (part->request.inputs[0].shape.size() != 4) return "only 2-D images";
    if (Refusal reason = same_size_refusal(*part, part == parts.window ? 3 : 1)) return reason;
  }
  if (Refusal reason = read_bounds(parts, size)) return reason;
  const engine::Shape& x = parts.window->request.inputs[0].shape;
  const engine::Shape& window = parts.window->request.inputs[1].shape;
  const engine::Shape& expand = parts.expand->request.inputs[1].shape;
  size.projects = parts.project != nullptr;
  size.channels = window[0];
  if (window[1] != size.channels ||
      (size.projects && parts.project->request.inputs[0].shape[1] != size.channels))
    return fmt::format("not {} channels throughout", size.channels);
  if (expand[0] != size.wide()) return fmt::format("{} channels, not {}", expand[0], size.wide());
  size.batch = x[0];
  size.height = x[2];
  size.width = x[3];
  size.next = parts.next == nullptr ? 0 : parts.next->request.inputs[1].shape[0];
  return {};
}

/// The positions of weights; an empty function if they are not rearranged.
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

/// Adds the arrangements that all kernels need: images, made by `image` from their shapes, and biases.
template <class Image>
Refusal arrange(const BottleneckParts& parts, const Image& image, std::vector<engine::TensorDesc>& inputs) {
  for (const RegionPart* part : parts.all()) {
    std::vector<engine::TensorDesc> wanted(4);
    if (part == parts.window || part == parts.project) wanted[0] = image(part->request.inputs[0].shape);
    if (part->node.has_input(2)) wanted[2] = {DType::kFloat32, part->request.inputs[2].shape, Layout::kPlain};
    if (part == parts.expand && parts.project == nullptr) wanted[3] = image(part->request.inputs[3].shape);
    if (Refusal reason = part->operands.arrange(wanted, inputs)) return reason;
  }
  return {};
}

/// A kernel and its name.
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
  const BottleneckParts parts(request);
  Bottleneck size;
  Refusal reason = read_size(parts, size);
  if (!reason) reason = way.refusal(size, gpu.properties());
  const DType dtype = request.storage();
  const auto image = [&](const engine::Shape& shape) {
    return engine::TensorDesc{dtype, shape, Layout::kChannelsLast};
  };
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  if (!reason) reason = arrange(parts, image, offer.inputs);
  if (reason) return Offer::refuse(std::move(reason));
  for (const engine::TensorDesc& output : request.outputs) offer.outputs.push_back(image(output.shape));
  const FilterPlaces places = way.places(size);
  const auto pack = [&](const RegionPart* part, const FragmentPlace& place) {
    if (part == nullptr) return std::shared_ptr<const DeviceBytes>();
    PackedConstant filter = place ? pack_fragments(gpu, part->request, 1, dtype, way.order, place, weights)
                                  : pack_filter(gpu, part->request, 1, dtype, FilterOrder::kKrsc,
                                                part->request.inputs[1].shape[1], weights);
    offer.packed.push_back(filter.key);
    return filter.device;
  };
  const auto window = pack(parts.window, places.window);
  const auto expand = pack(parts.expand, places.expand);
  const auto next = pack(parts.next, places.next);
  const auto projection = pack(parts.project, {});
  const auto bias_of = [](const RegionPart* part) {
    return part == nullptr ? -1 : part->operands.position(2);
  };
  const auto launch = [=, type = float_type(dtype), run = way.launch, x = parts.window->operands.position(0),
                       shortcut = parts.shortcut(), window_bias = bias_of(parts.window),
                       expand_bias = bias_of(parts.expand), next_bias = bias_of(parts.next),
                       projection_bias = bias_of(parts.project)](std::span<const void* const> inputs,
                                                                 std::span<void* const> outputs, void*,
                                                                 const LaunchOptions& options) {
    const auto at = [&](int position) {
      return position < 0 ? nullptr : inputs[static_cast<size_t>(position)];
    };
    const auto bias = [&](int position) { return static_cast<const float*>(at(position)); };
    const BottleneckArgs args{at(x),
                              at(shortcut),
                              window->data(),
                              expand->data(),
                              next ? next->data() : nullptr,
                              projection ? projection->data() : nullptr,
                              bias(window_bias),
                              bias(expand_bias),
                              bias(next_bias),
                              bias(projection_bias),
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
                    .operators = {"Region:bottleneck"},
                    .requirements = {engine::only_float32, engine::only_fp16_and_bf16},
                    .starts_early = true,
                    .make = std::bind_front(offer_bottleneck, std::ref(gpu), std::cref(*way))});
  }
}

}  // namespace hone::device::cuda
