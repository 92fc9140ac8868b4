// The epilogues that kernels for warpgroups finish in registers. Internal to the kernels.
#pragma once

#include <cstdint>
#include <optional>

#include "device/cuda/plugin/kernels/common/conv_problem.hpp"

namespace hone::device::cuda {

/// Kernels are compiled for each kind: code that does not run costs time too, since it has to be fetched.
enum class StreamKind : uint8_t {
  kBounds,     ///< at most: a ReLU, a clip
  kAdd,        ///< the addition of a full operand, then as kBounds
  kSwish,      ///< v * sigmoid(alpha * v)
  kHardSwish,  ///< v * clip(v / 6 + 1 / 2, 0, 1)
  kLeaky,      ///< v, times alpha where it is negative
  kGelu,       ///< the one with erf
  kGeluTanh    ///< its approximation with tanh
};

struct StreamEpilogue {
  StreamKind kind;
  float alpha;
  float low;
  float high;
};

/// Nullopt when the steps are more than that.
std::optional<StreamEpilogue> stream_epilogue(const ConvArgs& args);

/// True if the steps are at most bounds, also after an addition.
constexpr bool has_bounds(StreamKind kind) { return kind == StreamKind::kBounds || kind == StreamKind::kAdd; }

/// True if the steps are at most one of the activations of mobile networks, for which kernels with windows
/// (stems, depthwise tiles) and pooled ones are compiled.
constexpr bool is_mobile(StreamKind kind) {
  return kind == StreamKind::kBounds || kind == StreamKind::kSwish || kind == StreamKind::kHardSwish;
}

/// Why kernels that finish their sums in registers cannot do the steps; empty when they can.
Refusal stream_epilogue_refusal(const ConvArgs& args);

}  // namespace hone::device::cuda
