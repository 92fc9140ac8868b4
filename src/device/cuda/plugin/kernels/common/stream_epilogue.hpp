// The epilogues that kernels for warpgroups finish in registers. Internal to the kernels.
#pragma once

#include <cstdint>
#include <optional>

#include "device/cuda/plugin/kernels/common/conv_problem.hpp"

namespace hone::device::cuda {

/// Kernels are compiled for each kind: code that does not run costs time too, since it has to be fetched.
enum class StreamKind : uint8_t {
  kBounds,  ///< at most: a ReLU, a clip
  kAdd,     ///< the addition of a full operand, then as kBounds
  kSwish,   ///< v * sigmoid(alpha * v)
  kGelu,    ///< the one with erf; of the warpgroup GEMM alone, so that stream_epilogue() gives none
  kLeaky    ///< v, times alpha where it is negative; only of the warpgroup GEMM, too
};

struct StreamEpilogue {
  StreamKind kind;
  float alpha;
  float low;
  float high;
};

/// Empty when the steps are more than that.
std::optional<StreamEpilogue> stream_epilogue(const ConvArgs& args);

/// Why kernels that finish their sums in registers cannot do the steps; empty when they can.
Refusal stream_epilogue_refusal(const ConvArgs& args);

}  // namespace hone::device::cuda
