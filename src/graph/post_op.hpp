// The post-ops that fused operators apply to the result of their base operator, by the names that attribute
// `post_ops` uses.
#pragma once

#include <optional>
#include <string_view>

namespace hone::graph {

enum class PostOp {
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
/// Whether it takes the next extra input.
bool is_binary(PostOp op);

}  // namespace hone::graph
