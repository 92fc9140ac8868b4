// See post_op.hpp.
#include "graph/post_op.hpp"

#include <algorithm>
#include <iterator>

namespace hone::graph {
namespace {

/// Names in the order of the enumeration.
constexpr std::string_view kNames[] = {
    "relu", "leaky_relu", "clip",      "sigmoid",  "tanh", "hard_swish", "hard_sigmoid", "swish",
    "elu",  "gelu_erf",   "gelu_tanh", "softplus", "mish", "add",        "mul",          "sub"};

}  // namespace

std::optional<PostOp> find_post_op(std::string_view name) {
  const auto* const found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<PostOp>(found - std::begin(kNames));
}

std::string_view post_op_name(PostOp op) { return kNames[static_cast<size_t>(op)]; }

}  // namespace hone::graph
