// The epilogue of a GEMM kernel: bias, then a list of steps, then the store. Internal to the kernels.
#pragma once

#include "device/cuda/plugin/kernels/common/conv_problem.hpp"
#include "device/cuda/plugin/kernels/common/fast_divisor.hpp"

namespace hone::device::cuda {

/// Epilogues that are compiled as straight code; kSteps loops over the list of steps.
enum class EpilogueMode : uint8_t { kPlain, kRelu, kAddRelu, kSteps };

/// Floats between two rows of a staged tile: the pad spreads a half-warp's 8-byte stores over all banks.
inline constexpr int kStagePad = 8;

struct EpilogueParams {
  const float* bias;
  void* y;
  /// Operand of the step that adds, multiplies or subtracts a
  /// full tensor first. It is prefetched into shared memory.
  const void* prefetched;
  int prefetched_step;
  int rows;
  int filters;
  FastDivisor pixels;  ///< out_height * out_width
  EpilogueMode mode;
  bool float_y;  ///< y is float; only if the depth is split over a cluster and the steps are only bounds
  int step_count;
  EpilogueStep steps[kMaxEpilogueSteps];
};

/// True if the steps are at most kMaxEpilogueSteps and exactly the binary ones have an operand.
bool valid_steps(const ConvArgs& args);

EpilogueParams make_epilogue(const ConvProblem& problem, const ConvArgs& args);

}  // namespace hone::device::cuda
