// A tensor in memory of any owner, on the host or on a device; systems exchange it without copies.
#pragma once

#include <string>

#include "tensor/buffer.hpp"
#include "tensor/tensor.hpp"

namespace hone::tensor {

struct TensorView {
  /// Begins with the tensor's first element.
  Buffer buffer;
  DType dtype = DType::kUndefined;
  Shape shape;
  /// Distance between consecutive indices of each dimension, in elements; empty if row-major.
  Shape strides;
  bool read_only = false;

  bool defined() const { return dtype != DType::kUndefined; }
  std::byte* data() const { return buffer.data; }
};

/// A view of the tensor's bytes, which it keeps alive.
TensorView view_of(const Tensor& tensor);

/// True if the elements are contiguous in row-major order. Dimensions of size 1 may have any stride.
bool is_row_major(const TensorView& view);

/// Bytes from the first element to the end of the last one. Usage error, which begins with `name`, for
/// strides that are negative, too large or of a wrong number, and for a buffer that is too small.
int64_t extent(const TensorView& view, const std::string& name);

/// True if two memory ranges at one place overlap.
bool overlaps(const Buffer& a, const Buffer& b);

/// Copies on the host: elements that are `strides` apart to a row-major tensor.
void copy_strided(const std::byte* from, const Shape& strides, std::byte* to, const Shape& shape,
                  DType dtype);

}  // namespace hone::tensor
