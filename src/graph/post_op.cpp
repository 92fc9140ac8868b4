// See post_op.hpp.
#include "graph/post_op.hpp"

namespace hone::graph {

std::optional<PostOp> find_post_op(std::string_view name) {
  // In the order of the enumeration.
  static constexpr std::string_view kNames[] = {
      "relu", "leaky_relu", "clip",      "sigmoid",  "tanh", "hard_swish", "hard_sigmoid", "swish",
      "elu",  "gelu_erf",   "gelu_tanh", "softplus", "mish", "add",        "mul",          "sub"};
  int index = 0;
  for (const std::string_view known : kNames) {
    if (known == name) return static_cast<PostOp>(index);
    ++index;
  }
  return std::nullopt;
}

}  // namespace hone::graph
