// The post-ops that fused operators apply to the result of their base operator, by the names that attribute
// `post_ops` uses.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hone::graph {

enum class PostOp : uint8_t {
  kRelu,
  kLeakyRelu,  ///< alpha
  kClip,       ///< alpha is the minimum, beta the maximum
  kSigmoid,
  kTanh,
  kHardSwish,
  kHardSigmoid,  ///< alpha, beta
  kSwish,        ///< x * sigmoid(alpha * x)
  kElu,          ///< alpha
  kGeluErf,
  kGeluTanh,
  kSoftplus,
  kMish,
  kAdd,  ///< plus the next extra input
  kMul,  ///< times the next extra input
  kSub,  ///< minus the next extra input
};

/// The post-op of this name, if there is one.
std::optional<PostOp> find_post_op(std::string_view name);
std::string_view post_op_name(PostOp op);
/// True if it takes the next extra input.
constexpr bool is_binary(PostOp op) { return op == PostOp::kAdd || op == PostOp::kMul || op == PostOp::kSub; }

}  // namespace hone::graph
