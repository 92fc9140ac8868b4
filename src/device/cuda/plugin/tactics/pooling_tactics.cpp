// Runs pools over windows and over whole images with hone's own kernels.
#include "device/cuda/plugin/kernels/layers/pooling.hpp"

#include "device/cuda/plugin/tactics/tactics.hpp"
#include "engine/requirements.hpp"
#include "graph/convolution_geometry.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using engine::TensorDesc;

Offer offer_pool(const StepRequest& request, engine::WeightStore&) {
  if (request.node.has_output(1)) return Offer::refuse("the indices are wanted");
  const engine::Shape& shape = request.inputs[0].shape;
  const graph::Attributes& attributes = request.node.attributes;
  const bool average = request.node.op == "AveragePool";
  const graph::Window window = graph::read_window(attributes, attributes.get_ints("kernel_shape"));
  const auto axes = graph::resolve_window(window, std::span(shape).subspan(2));
  if (!fits_in_int(axes)) return Offer::refuse("a window beyond 2^31");
  const PoolSize size = pool_size(shape[0], shape[1], axes);
  const PoolKind kind = !average                                       ? PoolKind::kMax
                        : attributes.get_int("count_include_pad") != 0 ? PoolKind::kAveragePadded
                                                                       : PoolKind::kAverage;
  const Layout layout = engine::layout_for_shape(request.layout, shape);
  Offer offer;
  offer.inputs = {{request.storage(), shape, layout}};
  offer.outputs = {{request.storage(), request.outputs[0].shape, layout}};
  offer.outputs.resize(request.outputs.size());
  const FloatType type = float_type(request.storage());
  const ImageOrder order = image_order(layout);
  offer.kernel = std::make_shared<LaunchKernel>(
      "a pool", [=](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        return pool(inputs[0], outputs[0], type, order, kind, size, options);
      });
  return offer;
}

Offer offer_global_pool(const StepRequest& request, engine::WeightStore&) {
  const TensorDesc source{request.storage(), request.inputs[0].shape, request.inputs[0].layout};
  const FloatType type = float_type(request.storage());
  const ImageOrder order = image_order(source.layout);
  const int64_t batch = source.shape[0];
  const int64_t channels = source.shape[1];
  int64_t pixels = 1;
  for (size_t i = 2; i < source.shape.size(); ++i) pixels *= source.shape[i];
  const bool maximum = request.node.op == "GlobalMaxPool";
  Offer offer;
  offer.inputs = {source};
  // Plain, so that a matrix product can read it.
  offer.outputs = {{request.storage(), request.outputs[0].shape, Layout::kPlain}};
  offer.kernel = std::make_shared<LaunchKernel>(
      "a global pool",
      [=](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        return global_pool(inputs[0], type, order, outputs[0], type, maximum, batch, channels, pixels,
                           options);
      },
      batch * channels != 0);
  return offer;
}

}  // namespace

PoolSize pool_size(int64_t batch, int64_t channels, const std::vector<graph::WindowAxis>& axes) {
  PoolSize size;
  size.batch = batch;
  size.channels = channels;
  const size_t first = 3 - axes.size();
  for (size_t i = 0; i < axes.size(); ++i) {
    size.input[first + i] = axes[i].input;
    size.output[first + i] = axes[i].output;
    size.kernel[first + i] = axes[i].kernel;
    size.stride[first + i] = axes[i].stride;
    size.dilation[first + i] = axes[i].dilation;
    size.pad_begin[first + i] = axes[i].pad_begin;
    size.pad_end[first + i] = axes[i].pad_end;
  }
  return size;
}

void add_pooling_tactics(TacticList& list) {
  list.push_back({.name = "pool",
                  .operators = {"MaxPool", "AveragePool"},
                  .requirements = {engine::only_float32, engine::one_to_three_axes},
                  .make = offer_pool});
  list.push_back({.name = "global_pool",
                  .operators = {"GlobalAveragePool", "GlobalMaxPool"},
                  .requirements = {engine::only_float32},
                  .make = offer_global_pool});
}

}  // namespace hone::device::cuda
