// The three types in which plain kernels compute. Every floating type is computed as double and rounded once
// at the end (one +, -, *, / or square root then gives exactly the result of float arithmetic, since double
// has more than twice its bits); integers are computed modulo 2^64, which agrees with every narrower type.
#pragma once

#include <cstdint>

#include "tensor/tensor.hpp"

namespace hone::reference {

inline tensor::DType compute_dtype(tensor::DType dtype) {
  if (tensor::is_floating(dtype)) return tensor::DType::kFloat64;
  return dtype == tensor::DType::kUInt64 ? tensor::DType::kUInt64 : tensor::DType::kInt64;
}

/// The tensor in its compute type; Tensor::cast converts back.
inline tensor::Tensor widened(const tensor::Tensor& x) { return x.cast(compute_dtype(x.dtype())); }

/// Calls `f.template operator()<T>()` with the compute type of `dtype`: double, int64_t or uint64_t.
template <class F>
decltype(auto) visit_compute(tensor::DType dtype, F&& f) {
  switch (compute_dtype(dtype)) {
    case tensor::DType::kFloat64: return f.template operator()<double>();
    case tensor::DType::kUInt64: return f.template operator()<uint64_t>();
    default: return f.template operator()<int64_t>();
  }
}

/// Sum, difference and product that wrap instead of overflowing.
inline double add(double a, double b) { return a + b; }
inline double subtract(double a, double b) { return a - b; }
inline double multiply(double a, double b) { return a * b; }
inline uint64_t add(uint64_t a, uint64_t b) { return a + b; }
inline uint64_t subtract(uint64_t a, uint64_t b) { return a - b; }
inline uint64_t multiply(uint64_t a, uint64_t b) { return a * b; }
inline int64_t add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
inline int64_t subtract(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
inline int64_t multiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

}  // namespace hone::reference
