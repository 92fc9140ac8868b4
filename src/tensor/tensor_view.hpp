// A tensor in somebody's memory, on the host or on a device: what systems exchange without copying.
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
  /// Elements from one index of a dimension to the next; empty where they are row-major.
  Shape strides;
  bool read_only = false;

  bool defined() const { return dtype != DType::kUndefined; }
  std::byte* data() const { return buffer.data; }
};

/// The tensor's own bytes, which the view keeps alive.
TensorView view_of(const Tensor& tensor);

/// True if the elements lie one after the other in row-major order. Dimensions of size 1 may have any stride.
bool is_row_major(const TensorView& view);

/// Bytes from the first element to the end of the last one. Usage error, which begins with `name`, for
/// strides that are negative, too few or too large, and for a buffer that ends before.
int64_t extent(const TensorView& view, const std::string& name);

/// True if two memories of these many bytes at one place have a byte in common.
bool overlaps(const Buffer& a, const Buffer& b);

/// Copies on the host: elements that lie `strides` apart to a row-major tensor.
void copy_strided(const std::byte* from, const Shape& strides, std::byte* to, const Shape& shape,
                  DType dtype);

}  // namespace hone::tensor
