// Operators that select elements by indices, pad them, or convert indices to vectors: Gather, Pad and OneHot.
#include "device/cuda/plugin/kernels/layers/movement.hpp"
#include "device/cuda/plugin/kernels/layers/one_hot.hpp"
#include "device/cuda/plugin/tactics/moved_values.hpp"
#include "device/cuda/plugin/tactics/node_pads.hpp"
#include "device/cuda/plugin/tactics/node_views.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::DType;

Offer offer_gather(const StepRequest& request, engine::WeightStore&) {
  const Shape& shape = request.inputs[0].shape;
  const TensorDesc& indices = request.inputs[1];
  if (indices.dtype != DType::kInt32 && indices.dtype != DType::kInt64)
    return Offer::refuse("indices are neither int32 nor int64");
  const int64_t axis =
      tensor::normalize_axis(request.node.attributes.get_int("axis"), static_cast<int64_t>(shape.size()));
  const MiddleAxes parts = around_axis(shape, static_cast<size_t>(axis));
  if (parts.axis == 0) return Offer::refuse("the axis is empty");
  const DType dtype = moved_type(request);
  Offer offer;
  offer.inputs = {{dtype, shape, Layout::kPlain}, {indices.dtype, indices.shape, Layout::kPlain}};
  offer.outputs = {{dtype, request.outputs[0].shape, Layout::kPlain}};
  const size_t bytes = tensor::dtype_size(dtype);
  const size_t index_bytes = tensor::dtype_size(indices.dtype);
  const int64_t count = tensor::element_count(indices.shape);
  offer.kernel = std::make_shared<LaunchKernel>(
      "a gather",
      [=](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        return gather(inputs[0], inputs[1], index_bytes, outputs[0], bytes, parts.outer, parts.axis,
                      parts.inner, count, options);
      },
      tensor::element_count(request.outputs[0].shape) != 0);
  return offer;
}

Offer offer_pad(const StepRequest& request, engine::WeightStore&) {
  const DType dtype = moved_type(request);
  const Layout layout = moved_layout(request, dtype);
  NodePads pads = node_pads(request, dtype, layout);
  if (pads.refusal) return Offer::refuse(std::move(pads.refusal));
  Offer offer;
  offer.inputs = {{dtype, request.inputs[0].shape, layout}};
  offer.inputs.resize(request.inputs.size());
  offer.outputs = {{dtype, request.outputs[0].shape, layout}};
  offer.kernel = std::make_shared<LaunchKernel>(
      "a pad", [pads = std::move(pads)](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        return pad(inputs[0], outputs[0], pads.value.size(), pads.mode, pads.sizes, pads.begin, pads.output,
                   pads.value.data(), options);
      });
  return offer;
}

Offer offer_one_hot(const StepRequest& request, engine::WeightStore&) {
  const TensorDesc& indices = request.inputs[0];
  if (indices.dtype != DType::kInt32 && indices.dtype != DType::kInt64)
    return Offer::refuse("indices are neither int32 nor int64");
  if (tensor::element_count(request.inputs[2].shape) != 2) return Offer::refuse("other than two values");
  const DType dtype = moved_type(request);
  const size_t bytes = tensor::dtype_size(dtype);
  if (bytes > 8) return Offer::refuse("elements of more than 8 bytes");
  const Shape& shape = request.outputs[0].shape;
  const int64_t axis =
      tensor::normalize_axis(request.node.attributes.get_int("axis"), static_cast<int64_t>(shape.size()));
  const MiddleAxes parts = around_axis(shape, static_cast<size_t>(axis));
  Offer offer;
  // The depth is given by the output's shape.
  offer.inputs = {
      {indices.dtype, indices.shape, Layout::kPlain}, {}, {dtype, request.inputs[2].shape, Layout::kPlain}};
  offer.outputs = {{dtype, shape, Layout::kPlain}};
  const size_t index_bytes = tensor::dtype_size(indices.dtype);
  offer.kernel = std::make_shared<LaunchKernel>(
      "one-hot vectors", [=](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        return one_hot(inputs[0], index_bytes, inputs[2], outputs[0], bytes, parts.outer, parts.axis,
                       parts.inner, options);
      });
  return offer;
}

}  // namespace

void add_indexing_tactics(TacticList& list) {
  list.push_back({.name = "gather",
                  .operators = {"Gather"},
                  .requirements = {engine::nonempty_output},
                  .starts_early = true,
                  .make = offer_gather});
  list.push_back({.name = "pad", .operators = {"Pad"}, .make = offer_pad});
  list.push_back({.name = "one_hot",
                  .operators = {"OneHot"},
                  .requirements = {engine::nonempty_output},
                  .make = offer_one_hot});
}

}  // namespace hone::device::cuda
