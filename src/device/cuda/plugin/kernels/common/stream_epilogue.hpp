// The epilogues that warpgroup kernels apply in registers. Internal to the kernels.
#pragma once

#include <cstdint>
#include <optional>

#include "device/cuda/plugin/kernels/common/conv_problem.hpp"

namespace hone::device::cuda {

/// Kernels are compiled for each kind, since even code that does not run costs time: it is fetched.
enum class StreamKind : uint8_t {
  kBounds,     ///< at most bounds: a ReLU or a clip
  kAdd,        ///< adds a full operand, then has bounds as kBounds
  kSwish,      ///< v * sigmoid(alpha * v)
  kHardSwish,  ///< v * clip(v / 6 + 1 / 2, 0, 1)
  kLeaky,      ///< v if it is not negative, otherwise alpha * v
  kGelu,       ///< the exact GELU, with erf
  kGeluTanh    ///< the approximation with tanh
};

struct StreamEpilogue {
  StreamKind kind;
  float alpha;
  float low;
  float high;
};

/// Returns nullopt if the steps need more than one of these kinds.
std::optional<StreamEpilogue> stream_epilogue(const ConvArgs& args);

/// True if the steps are at most bounds, possibly after an addition.
constexpr bool has_bounds(StreamKind kind) { return kind == StreamKind::kBounds || kind == StreamKind::kAdd; }

/// True if the steps are at most one activation of mobile networks. Kernels with windows (stems, depthwise
/// tiles) and pooled ones are compiled only for these.
constexpr bool is_mobile(StreamKind kind) {
  return kind == StreamKind::kBounds || kind == StreamKind::kSwish || kind == StreamKind::kHardSwish;
}

/// The reason why kernels that finish their sums in registers cannot apply the steps; empty if they can.
Refusal stream_epilogue_refusal(const ConvArgs& args);

}  // namespace hone::device::cuda
