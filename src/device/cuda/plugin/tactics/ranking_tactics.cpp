// Operators that sort or add up along one axis: TopK and CumSum.
#include "device/cuda/plugin/kernels/layers/ranking.hpp"

#include "device/cuda/plugin/tactics/node_views.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::DType;

MiddleAxes parts_of(const Shape& shape, int64_t axis) {
  const int64_t at = tensor::normalize_axis(axis, static_cast<int64_t>(shape.size()));
  return around_axis(shape, static_cast<size_t>(at));
}

/// The length is limited, because every element is compared with all others.
constexpr int64_t kLongest = 65536;

Offer offer_top_k(const StepRequest& request, engine::WeightStore&) {
  if (!request.node.has_output(0) || !request.node.has_output(1))
    return Offer::refuse("an output is left out");
  const Shape& shape = request.inputs[0].shape;
  if (tensor::element_count(request.outputs[0].shape) == 0) return Offer::refuse("an output is empty");
  const graph::Attributes& attributes = request.node.attributes;
  const MiddleAxes size = parts_of(shape, attributes.get_int("axis"));
  if (size.axis > kLongest) return Offer::refuse(fmt::format("the axis is longer than {}", kLongest));
  const int64_t k = parts_of(request.outputs[0].shape, attributes.get_int("axis")).axis;
  const DType dtype = request.storage();
  Offer offer;
  offer.inputs = {{dtype, shape, Layout::kPlain}, {}};
  offer.outputs = {{dtype, request.outputs[0].shape, Layout::kPlain},
                   {DType::kInt64, request.outputs[1].shape, Layout::kPlain}};
  const FloatType type = float_type(dtype);
  const bool largest = attributes.get_int("largest") != 0;
  offer.kernel = std::make_shared<LaunchKernel>(
      "a ranking", [=](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        return top_k(inputs[0], outputs[0], static_cast<int64_t*>(outputs[1]), type, largest, size.outer,
                     size.axis, size.inner, k, options);
      });
  return offer;
}

Offer offer_cumulative_sum(const StepRequest& request, engine::WeightStore&) {
  const tensor::Tensor* axis = request.graph.constant(request.node.input(1));
  if (axis == nullptr || axis->size() != 1) return Offer::refuse("the axis is computed");
  const Shape& shape = request.inputs[0].shape;
  const MiddleAxes size = parts_of(shape, axis->to_int64()[0]);
  const TensorDesc desc{request.storage(), shape, Layout::kPlain};
  Offer offer;
  offer.inputs = {desc, {}};
  offer.outputs = {desc};
  const FloatType type = float_type(desc.dtype);
  const bool exclusive = request.node.attributes.get_int("exclusive") != 0;
  const bool reverse = request.node.attributes.get_int("reverse") != 0;
  offer.kernel = std::make_shared<LaunchKernel>(
      "a cumulative sum", [=](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        return cumulative_sum(inputs[0], outputs[0], type, exclusive, reverse, size.outer, size.axis,
                              size.inner, options);
      });
  return offer;
}

}  // namespace

void add_ranking_tactics(TacticList& list) {
  list.push_back(
      {.name = "top_k", .operators = {"TopK"}, .requirements = {engine::only_float32}, .make = offer_top_k});
  list.push_back({.name = "cumulative_sum",
                  .operators = {"CumSum"},
                  .requirements = {engine::only_float32},
                  .make = offer_cumulative_sum});
}

}  // namespace hone::device::cuda
