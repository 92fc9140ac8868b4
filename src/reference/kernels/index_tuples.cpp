// See index_tuples.hpp.
#include "reference/kernels/index_tuples.hpp"

namespace hone::reference {

using tensor::Shape;

IndexTuples::IndexTuples(const Shape& data, const tensor::Tensor& indices, int64_t batch_dims) {
  const auto rank = static_cast<int64_t>(data.size());
  if (rank == 0 || indices.rank() == 0) fail_bad_input("data and indices must have axes");
  const int64_t length = indices.shape().back();
  if (batch_dims < 0 || batch_dims >= std::min(rank, indices.rank()) || length < 1 ||
      length > rank - batch_dims) {
    fail_bad_input("tuples of {} indices after {} batch axes do not fit data of rank {}", length, batch_dims,
                   rank);
  }
  for (int64_t d = 0; d < batch_dims; ++d) {
    const auto i = static_cast<size_t>(d);
    if (data[i] != indices.shape()[i]) {
      fail_bad_input("batch axis {} has length {} and {}", d, data[i], indices.shape()[i]);
    }
  }
  slice_shape_.assign(data.begin() + batch_dims + length, data.end());
  const Shape strides = tensor::row_major_strides(data);
  const auto split = static_cast<size_t>(batch_dims);
  const int64_t batches = tensor::element_count(std::span(data).first(split));
  const int64_t batch_size = tensor::element_count(std::span(data).subspan(split));
  const auto values = indices.to_int64();
  const int64_t tuples = static_cast<int64_t>(values.size()) / length;
  for (int64_t tuple = 0; tuple < tuples; ++tuple) {
    int64_t offset = tuple / (tuples / batches) * batch_size;
    for (int64_t k = 0; k < length; ++k) {
      const size_t axis = static_cast<size_t>(batch_dims + k);
      offset += checked_index(values[static_cast<size_t>(tuple * length + k)], data[axis]) * strides[axis];
    }
    offsets_.push_back(offset);
  }
}

void require_element_indices(const Shape& data, const Shape& indices, int64_t axis) {
  bool fits = data.size() == indices.size();
  for (size_t i = 0; fits && i < data.size(); ++i) {
    fits = static_cast<int64_t>(i) == axis || indices[i] <= data[i];
  }
  if (!fits) {
    fail_bad_input("indices of shape {} do not fit data of shape {}", tensor::shape_text(indices),
                   tensor::shape_text(data));
  }
}

}  // namespace hone::reference
