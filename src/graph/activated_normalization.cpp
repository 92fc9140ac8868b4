// See activated_normalization.hpp.
#include "graph/activated_normalization.hpp"

#include <algorithm>

#include "graph/region.hpp"

namespace hone::graph {
namespace {

bool is_normalization(const Node& node) {
  return node.op == "GroupNormalization" || node.op == "InstanceNormalization";
}

/// The post-ops of a node without extra inputs; nullopt if it has others.
std::optional<std::vector<Activation>> activations_of(const Node& node) {
  if (node.op != "FusedElementwise" || node.inputs.size() != 1) return std::nullopt;
  const auto& names = node.attributes.get<std::vector<std::string>>("post_ops");
  const auto& alphas = node.attributes.get<std::vector<float>>("post_alphas");
  const auto& betas = node.attributes.get<std::vector<float>>("post_betas");
  if (alphas.size() != names.size() || betas.size() != names.size()) return std::nullopt;
  std::vector<Activation> result;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto op = find_post_op(names[i]);
    if (!op || is_binary(*op)) return std::nullopt;
    result.push_back({*op, alphas[i], betas[i]});
  }
  return result;
}

}  // namespace

std::optional<ActivatedNormalization> read_activated_normalization(const Node& node) {
  ActivatedNormalization result;
  if (!is_region(node)) {
    result.norm = node;
    return result;
  }
  const Graph& body = region_body(node);
  if (body.nodes.size() != 2 || !is_normalization(body.nodes[0])) return std::nullopt;
  const Node& activation = body.nodes[1];
  auto activations = activations_of(activation);
  if (!activations || activation.inputs[0] != body.nodes[0].outputs[0] || body.outputs != activation.outputs)
    return std::nullopt;
  result.norm = body.nodes[0];
  result.activations = std::move(*activations);
  for (size_t i = 0; i < result.inputs.size(); ++i) {
    const auto found = std::find(body.inputs.begin(), body.inputs.end(), result.norm.inputs[i]);
    if (found == body.inputs.end()) return std::nullopt;
    result.inputs[i] = static_cast<size_t>(found - body.inputs.begin());
  }
  return result;
}

}  // namespace hone::graph
