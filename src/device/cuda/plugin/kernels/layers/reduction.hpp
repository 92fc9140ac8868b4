// Reductions of floating-point tensors over the middle of [outer][axis][inner]. A transpose (gather_strided)
// brings other sets of axes into this form.
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

/// The output is [outer][inner], of the input's type.
cudaError_t reduce(const void* input, void* output, FloatType type, ReductionKind kind, int64_t outer,
                   int64_t axis, int64_t inner, const LaunchOptions& options);

/// The output is [outer][inner] in int64: the index of the largest (or smallest) value, and of equal ones the
/// first or the last. NaN counts as the extreme value.
cudaError_t arg_extreme(const void* input, int64_t* output, FloatType type, bool largest, bool last,
                        int64_t outer, int64_t axis, int64_t inner, const LaunchOptions& options);

}  // namespace hone::device::cuda
