// A chain of elementwise operations on one main tensor, compiled for its shapes and layout: what fused
// elementwise steps run, and what follows a convolution whose post-ops oneDNN does not take.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/kernel.hpp"

namespace hone::device::cpu {

enum class ChainOp : uint8_t {
  kRelu,
  kLeakyRelu,
  kClip,
  kSigmoid,
  kTanh,
  kHardSwish,
  kHardSigmoid,
  kSwish,
  kElu,
  kSelu,
  kCelu,
  kGeluErf,
  kGeluTanh,
  kSoftplus,
  kMish,
  kSoftsign,
  kThresholdedRelu,
  kShrink,
  kNeg,
  kAbs,
  kSign,
  kExp,
  kLog,
  kSqrt,
  kErf,
  kReciprocal,
  kFloor,
  kCeil,
  kRound,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh,
  kAdd,  ///< the first that takes a second operand
  kMul,
  kSub,
  kReverseSub,
  kDiv,
  kReverseDiv,
  kMax,
  kMin,
  kAtLeast,  ///< the larger one, the first where a bound is NaN
  kAtMost,
  kPow,
  kReversePow,
  kPRelu
};

/// True if the operation takes a second operand.
constexpr bool is_binary(ChainOp op) { return op >= ChainOp::kAdd; }
/// The operation of a post-op's name; nullopt for an unknown one.
std::optional<ChainOp> chain_op(std::string_view post_op);

struct ChainLink {
  ChainOp op;
  float alpha = 0;
  float beta = 0;
  /// Position among the step's inputs of the second operand.
  size_t operand = 0;
};

/// Describes the arrangement that a second operand must have for an output arranged as `output`: the same
/// layout for equal shapes, plain float32 for operands that are broadcast; nullopt when the chain cannot
/// broadcast it.
std::optional<engine::TensorDesc> chain_operand_desc(const engine::TensorDesc& operand,
                                                     const engine::TensorDesc& output);

/// A kernel that computes output 0 from input `main` (arranged alike) by the chain; reads the other operands
/// as chain_operand_desc says. Element types: float32 and bfloat16, computed in float32.
std::shared_ptr<const engine::Kernel> make_chain_kernel(const engine::TensorDesc& output, size_t main,
                                                        const std::vector<ChainLink>& chain,
                                                        const std::vector<engine::TensorDesc>& inputs);

}  // namespace hone::device::cpu
