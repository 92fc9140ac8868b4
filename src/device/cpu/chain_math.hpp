// The arithmetic of elementwise chains on short runs of floats, compiled for several instruction sets.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/cpu/elementwise_program.hpp"
#include "tensor/float_types.hpp"

namespace hone::device::cpu {

/// Longest run that one call handles: two runs fit the first-level cache together.
inline constexpr size_t kRun = 512;

/// How exact the results of links must be.
enum class LinkError : uint8_t {
  /// A few units in the last place.
  kOfFloat,
  /// A quarter of a rounding to bfloat16, which follows.
  kOfHalf,
};

/// to[i] = op(x[i]) or op(x[i], y[i * y_stride]) for i < n; y_stride is 0 or 1. `to` may be x or y.
void apply_link(const ChainLink& link, const float* x, const float* y, size_t y_stride, float* to, size_t n,
                LinkError error = LinkError::kOfFloat);
/// About how many additions one such operation takes as long as.
int64_t link_cost(ChainOp op);

void widen(const tensor::BFloat16* from, float* to, size_t n);
/// Rounds to nearest even; NaN stays NaN, and what is finite stays finite.
void narrow(const float* from, tensor::BFloat16* to, size_t n);
/// True if any element is infinite.
bool has_infinity(const tensor::BFloat16* x, size_t n);

}  // namespace hone::device::cpu
