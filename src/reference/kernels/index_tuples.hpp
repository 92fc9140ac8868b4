// The two ways in which ONNX addresses elements by index tensors, shared by gathering and scattering.
#pragma once

#include <vector>

#include "reference/strided.hpp"

namespace hone::reference {

/// GatherND and ScatterND: the last axis of `indices` holds tuples that address slices of the data.
class IndexTuples {
 public:
  /// Throws bad input if shapes do not fit or an index is outside the data.
  IndexTuples(const tensor::Shape& data, const tensor::Tensor& indices, int64_t batch_dims);

  /// Offsets of the addressed slices in elements, in the order of the tuples.
  const std::vector<int64_t>& offsets() const { return offsets_; }
  const tensor::Shape& slice_shape() const { return slice_shape_; }
  int64_t slice_size() const { return tensor::element_count(slice_shape_); }

 private:
  std::vector<int64_t> offsets_;
  tensor::Shape slice_shape_;
};

/// Throws bad input unless the indices of GatherElements and ScatterElements fit the data on all axes but
/// `axis`.
void require_element_indices(const tensor::Shape& data, const tensor::Shape& indices, int64_t axis);

/// GatherElements and ScatterElements: calls f with the offset of the data element that each index addresses.
/// Its position on the other axes is that of the index itself.
template <class F>
void for_each_element_index(const tensor::Shape& data, const tensor::Tensor& indices, int64_t axis, F&& f) {
  const auto rank = static_cast<int64_t>(data.size());
  const auto at = static_cast<size_t>(tensor::normalize_axis(axis, rank));
  require_element_indices(data, indices.shape(), static_cast<int64_t>(at));
  tensor::Shape strides = tensor::row_major_strides(data);
  const int64_t step = strides[at];
  strides[at] = 0;
  const auto positions = indices.to_int64();
  size_t next = 0;
  walk<1>(indices.shape(), {strides}, {0},
          [&](const auto& offset) { f(offset[0] + checked_index(positions[next++], data[at]) * step); });
}

}  // namespace hone::reference
