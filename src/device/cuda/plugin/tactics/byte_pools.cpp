// Runs max pools of bytes and quantized_pool regions with hone's own kernels.
#include "device/cuda/plugin/kernels/layers/byte_pooling.hpp"
#include "device/cuda/plugin/tactics/byte_chain.hpp"
#include "device/cuda/plugin/tactics/quantized_tactics.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"
#include "engine/requirements.hpp"
#include "graph/convolution_geometry.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using tensor::DType;

std::vector<graph::WindowAxis> axes_of(const graph::Node& node, const Shape& shape) {
  if (node.op != "GlobalAveragePool") {
    const graph::Window window =
        graph::read_window(node.attributes, node.attributes.get_ints("kernel_shape"));
    return graph::resolve_window(window, std::span(shape).subspan(2));
  }
  std::vector<graph::WindowAxis> axes;
  for (size_t i = 2; i < shape.size(); ++i)
    axes.push_back({.input = shape[i], .output = 1, .kernel = shape[i]});
  return axes;
}

/// The reason why kernels cannot pool over these axes.
Refusal axes_refusal(const std::vector<graph::WindowAxis>& axes) {
  if (axes.size() < 2 || axes.size() > 3) return "only images of two or three axes";
  if (!fits_in_int(axes)) return "a window beyond 2^31";
  // The limit that keeps sums within 32 bits.
  constexpr int64_t kMostTaps = int64_t{1} << 22;
  int64_t taps = 1;
  for (const graph::WindowAxis& axis : axes) {
    if (axis.kernel > kMostTaps / taps) return "windows of more than 2^22 elements";
    taps *= axis.kernel;
  }
  return {};
}

Offer offer_maximum(const StepRequest& request, engine::WeightStore&) {
  const DType dtype = request.outputs[0].dtype;
  if (!is_byte(dtype)) return Offer::refuse("only bytes");
  if (request.node.has_output(1)) return Offer::refuse("the indices are wanted");
  const Shape& shape = request.inputs[0].shape;
  const auto axes = axes_of(request.node, shape);
  if (Refusal reason = axes_refusal(axes)) return Offer::refuse(std::move(reason));
  const PoolSize size = pool_size(shape[0], shape[1], axes);
  Offer offer;
  offer.inputs = {{dtype, shape, Layout::kChannelsLast}};
  offer.outputs = {{dtype, request.outputs[0].shape, Layout::kChannelsLast}};
  offer.outputs.resize(request.outputs.size());
  offer.kernel = std::make_shared<LaunchKernel>(
      "a pool of bytes", [=](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        return byte_max_pool(inputs[0], outputs[0], dtype == DType::kUInt8, size, options);
      });
  return offer;
}

Offer offer_average(const StepRequest& request, engine::WeightStore&) {
  const auto chain = graph::read_quantized_chain(request.node);
  if (!chain || chain->core == nullptr || chain->w.is_present() || chain->stages.size() != 1)
    return Offer::refuse("no pool whose result is rounded");
  const auto x = byte_scale(request, chain->x);
  const auto y = byte_scale(request, chain->stages[0]);
  if (!x || !y) return Offer::refuse("only bytes of one constant scale");
  const Shape& shape = request.inputs[chain->x.value].shape;
  const auto axes = axes_of(*chain->core, shape);
  if (Refusal reason = axes_refusal(axes)) return Offer::refuse(std::move(reason));
  const PoolSize size = pool_size(shape[0], shape[1], axes);
  const bool padded =
      chain->core->op == "AveragePool" && chain->core->attributes.get_int("count_include_pad") != 0;
  const int least = y->dtype == DType::kUInt8 ? 0 : -128;
  const ByteAverage average{x->dtype == DType::kUInt8,
                            x->zero_point,
                            x->scale / y->scale,
                            static_cast<float>(least - y->zero_point),
                            static_cast<float>(least + 255 - y->zero_point),
                            y->zero_point};
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  keep_constants(request, *chain, offer);
  offer.inputs[chain->x.value] = {x->dtype, shape, Layout::kChannelsLast};
  offer.outputs = {{request.outputs[0].dtype, request.outputs[0].shape, Layout::kChannelsLast}};
  offer.kernel = std::make_shared<LaunchKernel>(
      "an average pool of bytes",
      [=, kind = padded ? PoolKind::kAveragePadded : PoolKind::kAverage, input = chain->x.value](
          auto inputs, auto outputs, void*, const LaunchOptions& options) {
        return byte_average_pool(inputs[input], outputs[0], kind, average, size, options);
      });
  return offer;
}

}  // namespace

void add_byte_pool_tactics(TacticList& list) {
  list.push_back({.name = "byte_pool",
                  .operators = {"MaxPool"},
                  .requirements = {engine::nonempty_output, engine::one_to_three_axes},
                  .make = offer_maximum});
  list.push_back({.name = "byte_average",
                  .operators = {"Region:quantized_pool"},
                  .requirements = {engine::nonempty_output},
                  .make = offer_average});
}

}  // namespace hone::device::cuda
