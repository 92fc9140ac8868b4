// Runs GridSample and RoiAlign with hone's own kernels.
#include <algorithm>

#include "device/cuda/plugin/kernels/layers/grid_sample.hpp"
#include "device/cuda/plugin/kernels/layers/roi_align.hpp"
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
  // Points stay in float32, because 16 bits would move them by pixels.
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

Offer offer_roi_align(const StepRequest& request, engine::WeightStore&) {
  const graph::Attributes& attributes = request.node.attributes;
  if (attributes.get_string("mode") != "avg") return Offer::refuse("no averages are wanted");
  if (request.graph.value(request.node.inputs[2]).type.dtype != DType::kInt64)
    return Offer::refuse("images are not numbered in int64");
  const Shape& map = request.inputs[0].shape;
  const Shape& output = request.outputs[0].shape;
  RoiAlign size{map[0], map[1], map[2], map[3], output[0], output[2], output[3]};
  size.sampling_ratio = attributes.get_int("sampling_ratio");
  size.scale = attributes.get_float("spatial_scale");
  size.half_pixel = attributes.get_string("coordinate_transformation_mode") == "half_pixel";
  const DType dtype = request.storage();
  Offer offer;
  // Boxes stay in float32, because 16 bits would move them by pixels.
  offer.inputs = {{dtype, map, Layout::kPlain},
                  {DType::kFloat32, request.inputs[1].shape, Layout::kPlain},
                  {DType::kInt64, request.inputs[2].shape, Layout::kPlain}};
  offer.outputs = {{dtype, output, Layout::kPlain}};
  offer.kernel = std::make_shared<LaunchKernel>(
      "a pool of regions",
      [size, type = float_type(dtype)](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        return roi_align(inputs[0], static_cast<const float*>(inputs[1]),
                         static_cast<const int64_t*>(inputs[2]), outputs[0], type, size, options);
      });
  return offer;
}

}  // namespace

void add_sampling_tactics(TacticList& list) {
  list.push_back({.name = "grid_sample",
                  .operators = {"GridSample"},
                  .requirements = {engine::only_float32, engine::nonempty_input},
                  .make = offer_grid_sample});
  list.push_back({.name = "roi_align",
                  .operators = {"RoiAlign"},
                  .requirements = {engine::only_float32, engine::nonempty_input, engine::nonempty_output},
                  .make = offer_roi_align});
}

}  // namespace hone::device::cuda
