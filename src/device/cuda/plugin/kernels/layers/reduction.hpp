// Reductions of floating-point tensors over the middle of [outer][axis][inner]; other sets of axes become
// this by a transpose (gather_strided).
#pragma once

#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda {

enum class ReductionKind : uint8_t {
  kSum,
  kMean,
  kMaximum,
  kMinimum,
  kProduct,
  kL1,
  kL2,
  kSumSquare,
  kLogSum,
  kLogSumExp
};

/// Output [outer][inner], of the input's type.
cudaError_t reduce(const void* input, void* output, FloatType type, ReductionKind kind, int64_t outer,
                   int64_t axis, int64_t inner, const LaunchOptions& options);

/// Output [outer][inner] of int64: where the largest (or smallest) value is, the first or the last of equals.
/// NaN wins.
cudaError_t arg_extreme(const void* input, int64_t* output, FloatType type, bool largest, bool last,
                        int64_t outer, int64_t axis, int64_t inner, const LaunchOptions& options);

}  // namespace hone::device::cuda
