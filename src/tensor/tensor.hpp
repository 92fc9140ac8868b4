// A dense row-major tensor in host memory. Copies share the bytes. A tensor that others can see is never
// written (kernels write only to tensors that they have just allocated).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tensor/dtype.hpp"
#include "tensor/shape.hpp"

namespace hone::tensor {

/// Largest size of a tensor that a file may request, in bytes; larger ones are refused before allocation.
inline constexpr int64_t kMaxTensorBytes = int64_t{1} << 34;

class Tensor {
 public:
  Tensor() = default;
  /// Uninitialized, 64-byte aligned. Bad input if the size overflows or exceeds kMaxTensorBytes.
  Tensor(DType dtype, Shape shape);
  /// A view of bytes that `owner` keeps alive.
  Tensor(DType dtype, Shape shape, const std::byte* data, std::shared_ptr<const void> owner);

  /// A rank-1 tensor (or `shape`) with a copy of the values.
  template <class T>
  static Tensor of(const std::vector<T>& values, Shape shape);
  template <class T>
  static Tensor scalar(T value) {
    return of<T>({value}, {});
  }

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t rank() const { return static_cast<int64_t>(shape_.size()); }
  int64_t size() const { return size_; }
  size_t byte_size() const { return static_cast<size_t>(size_) * dtype_size(dtype_); }
  bool defined() const { return dtype_ != DType::kUndefined; }

  const std::byte* bytes() const { return data_; }
  std::byte* mutable_bytes() { return const_cast<std::byte*>(data_); }

  /// The elements; internal error if T is not the element type.
  template <class T>
  std::span<const T> values() const {
    require(DTypeOf<T>::value);
    return {reinterpret_cast<const T*>(data_), static_cast<size_t>(size_)};
  }
  template <class T>
  std::span<T> mutable_values() {
    require(DTypeOf<T>::value);
    return {reinterpret_cast<T*>(mutable_bytes()), static_cast<size_t>(size_)};
  }

  /// The same bytes with another shape; bad input if the numbers of elements differ.
  Tensor reshaped(Shape shape) const;
  /// Converts element by element; convert.hpp defines the result for values that the type cannot represent.
  Tensor cast(DType dtype) const;
  Tensor clone() const;
  /// Elements as int64 (any integer type or bool); bad input for other types.
  std::vector<int64_t> to_int64() const;
  /// Elements as double (any supported type).
  std::vector<double> to_double() const;

 private:
  void require(DType dtype) const;

  DType dtype_ = DType::kUndefined;
  Shape shape_;
  int64_t size_ = 0;
  const std::byte* data_ = nullptr;
  std::shared_ptr<const void> owner_;
};

template <class T>
Tensor Tensor::of(const std::vector<T>& values, Shape shape) {
  Tensor result(DTypeOf<T>::value, std::move(shape));
  if (static_cast<size_t>(result.size()) != values.size()) {
    fail_internal("{} values for a tensor of {} elements", values.size(), result.size());
  }
  for (size_t i = 0; i < values.size(); ++i) result.mutable_values<T>()[i] = values[i];
  return result;
}

}  // namespace hone::tensor
