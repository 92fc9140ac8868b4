// See tensor.hpp.
#include "tensor/tensor.hpp"

#include <cstring>

#include "base/checked.hpp"
#include "system/memory.hpp"
#include "tensor/convert.hpp"

namespace hone::tensor {
Tensor::Tensor(DType dtype, Shape shape) : dtype_(dtype), shape_(std::move(shape)) {
  if (!is_supported(dtype)) fail_bad_input("element type {} is not supported", dtype_name(dtype));
  size_ = element_count(shape_);
  const int64_t size = base::checked_mul(size_, static_cast<int64_t>(dtype_size(dtype)));
  if (size > kMaxTensorBytes) {
    fail_bad_input("a tensor of shape {} needs {} bytes, more than the limit of {}", shape_text(shape_), size,
                   kMaxTensorBytes);
  }
  auto owner = system::allocate_bytes(static_cast<size_t>(size));
  data_ = owner.get();
  owner_ = std::move(owner);
}

Tensor::Tensor(DType dtype, Shape shape, const std::byte* data, std::shared_ptr<const void> owner)
    : dtype_(dtype), shape_(std::move(shape)), data_(data), owner_(std::move(owner)) {
  size_ = element_count(shape_);
}

Tensor Tensor::reshaped(Shape shape) const {
  if (element_count(shape) != size_) {
    fail_bad_input("cannot view {} elements as shape {}", size_, shape_text(shape));
  }
  Tensor result = *this;
  result.shape_ = std::move(shape);
  return result;
}

Tensor Tensor::cast(DType dtype) const {
  if (dtype == dtype_) return *this;
  Tensor result(dtype, shape_);
  visit_dtype(dtype_, [&]<class From>() {
    visit_dtype(dtype, [&]<class To>() {
      const auto in = values<From>();
      const auto out = result.mutable_values<To>();
      for (size_t i = 0; i < in.size(); ++i) out[i] = convert<To>(in[i]);
    });
  });
  return result;
}

Tensor Tensor::clone() const {
  Tensor result(dtype_, shape_);
  if (size_ > 0) std::memcpy(result.mutable_bytes(), data_, byte_size());
  return result;
}

std::vector<int64_t> Tensor::to_int64() const {
  if (is_floating(dtype_)) fail_bad_input("expected integers, found {}", dtype_name(dtype_));
  std::vector<int64_t> result(static_cast<size_t>(size_));
  visit_dtype(dtype_, [&]<class T>() {
    const auto in = values<T>();
    for (size_t i = 0; i < in.size(); ++i) result[i] = static_cast<int64_t>(in[i]);
  });
  return result;
}

std::vector<double> Tensor::to_double() const {
  std::vector<double> result(static_cast<size_t>(size_));
  visit_dtype(dtype_, [&]<class T>() {
    const auto in = values<T>();
    for (size_t i = 0; i < in.size(); ++i) result[i] = static_cast<double>(in[i]);
  });
  return result;
}

void Tensor::require(DType dtype) const {
  if (dtype != dtype_) {
    fail_internal("tensor of {} read as {}", dtype_name(dtype_), dtype_name(dtype));
  }
}

}  // namespace hone::tensor
