// GridSample by a kernel of ours.
#include <algorithm>

#include "device/cuda/plugin/kernels/layers/grid_sample.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using tensor::DType;

GridSampleSize sample_size(const StepRequest& request) {
  const Shape& shape = request.inputs[0].shape;
  const Shape& output = request.outputs[0].shape;
  const graph::Attributes& attributes = request.node.attributes;
  const std::string& mode = attributes.get_string("mode");
  const std::string& padding = attributes.get_string("padding_mode");
  GridSampleSize size;
  size.batch = shape[0];
  size.channels = shape[1];
  size.axes = static_cast<int>(shape.size()) - 2;
  std::copy(shape.begin() + 2, shape.end(), std::end(size.input) - size.axes);
  size.points = tensor::element_count(std::span<const int64_t>(output).subspan(2));
  size.mode = mode == "nearest" ? SampleMode::kNearest
              : mode == "cubic" ? SampleMode::kCubic
                                : SampleMode::kLinear;
  size.padding = padding == "zeros"    ? SamplePadding::kZeros
                 : padding == "border" ? SamplePadding::kBorder
                                       : SamplePadding::kReflection;
  size.align_corners = attributes.get_int("align_corners") != 0;
  return size;
}

Offer offer_grid_sample(const StepRequest& request, engine::WeightStore&) {
  if (request.graph.value(request.node.input(1)).type.dtype != DType::kFloat32)
    return Offer::refuse("only float32 models");
  const Shape& shape = request.inputs[0].shape;
  if (shape.size() > 5) return Offer::refuse("only 1, 2 and 3 spatial axes");
  const DType dtype = request.storage();
  const Layout layout = engine::layout_for_shape(request.layout, shape);
  Offer offer;
  // Points stay in float32: in 16 bits they would be pixels off.
  offer.inputs = {{dtype, shape, layout}, {DType::kFloat32, request.inputs[1].shape, Layout::kPlain}};
  offer.outputs = {{dtype, request.outputs[0].shape, layout}};
  const FloatType type = float_type(dtype);
  const ImageOrder order = image_order(layout);
  offer.kernel = std::make_shared<LaunchKernel>(
      "a sampling",
      [=, size = sample_size(request)](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        return grid_sample(inputs[0], static_cast<const float*>(inputs[1]), outputs[0], type, order, size,
                           options);
      });
  return offer;
}

}  // namespace

void add_sampling_tactics(TacticList& list) {
  list.push_back({.name = "grid_sample",
                  .operators = {"GridSample"},
                  .requirements = {engine::only_float32, engine::nonempty_input},
                  .make = offer_grid_sample});
}

}  // namespace hone::device::cuda
