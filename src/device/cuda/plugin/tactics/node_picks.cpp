// See node_picks.hpp.
#include "device/cuda/plugin/tactics/node_picks.hpp"

#include <span>

namespace hone::device::cuda {
namespace {

using engine::Shape;

ElementPicks element_picks(const Shape& data, const Shape& indices, int64_t axis) {
  ElementPicks picks{indices, tensor::row_major_strides(data)};
  const auto at = static_cast<size_t>(tensor::normalize_axis(axis, static_cast<int64_t>(data.size())));
  picks.axis_size = data[at];
  picks.axis_stride = picks.strides[at];
  picks.strides[at] = 0;
  return picks;
}

SlicePicks slice_picks(const Shape& data, const Shape& indices, int64_t batch_dims) {
  const auto batch = static_cast<size_t>(batch_dims);
  const auto length = static_cast<size_t>(indices.back());
  const std::span<const int64_t> sizes = data;
  const std::span<const int64_t> counts = std::span<const int64_t>(indices).first(indices.size() - 1);
  const Shape strides = tensor::row_major_strides(data);
  SlicePicks picks;
  for (size_t k = batch; k < batch + length; ++k) {
    picks.sizes.push_back(data[k]);
    picks.strides.push_back(strides[k]);
  }
  picks.tuples = tensor::element_count(counts);
  picks.tuples_per_batch = tensor::element_count(counts.subspan(batch));
  picks.batch_stride = tensor::element_count(sizes.subspan(batch));
  picks.slice = tensor::element_count(sizes.subspan(batch + length));
  return picks;
}

}  // namespace

NodePicks node_picks(const engine::StepRequest& request) {
  const Shape& data = request.inputs[0].shape;
  const engine::TensorDesc& indices = request.inputs[1];
  if (indices.dtype != tensor::DType::kInt32 && indices.dtype != tensor::DType::kInt64)
    return {"indices are neither int32 nor int64", {}};
  if (tensor::element_count(data) == 0 || tensor::element_count(indices.shape) == 0)
    return {"the data or the indices are empty", {}};
  if (data.size() > kMostIndexed)
    return {fmt::format("the data has {} dimensions, {} at most", data.size(), kMostIndexed), {}};
  const graph::Attributes& attributes = request.node.attributes;
  if (request.node.op.ends_with("Elements"))
    return {"", element_picks(data, indices.shape, attributes.get_int("axis"))};
  const int64_t batch_dims = request.node.op == "GatherND" ? attributes.get_int("batch_dims") : 0;
  return {"", slice_picks(data, indices.shape, batch_dims)};
}

}  // namespace hone::device::cuda
