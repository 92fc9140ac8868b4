// Fuses a convolution with the activations, residual additions and other elementwise operations that are the
// only readers of its result.
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"

namespace hone::transform {

Summary convolution_fusion(Graph& graph) {
  return fuse_post_ops(graph, [](const Editor&, const Node& node) -> std::string {
    return node.op == "Conv" || node.op == "FusedConv" ? "FusedConv" : "";
  });
}

}  // namespace hone::transform
