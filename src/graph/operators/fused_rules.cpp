// See fused_rules.hpp.
#include "graph/operators/fused_rules.hpp"

#include "graph/post_op.hpp"

namespace hone::graph {

void add_post_op_attributes(std::vector<AttributeDef>& attributes, const std::string& prefix) {
  attributes.push_back(
      {prefix + "post_ops", AttributeKind::kStrings, false, Attribute(std::vector<std::string>())});
  attributes.push_back(
      {prefix + "post_alphas", AttributeKind::kFloats, false, Attribute(std::vector<float>())});
  attributes.push_back(
      {prefix + "post_betas", AttributeKind::kFloats, false, Attribute(std::vector<float>())});
}

void check_activation(InferenceContext& context, const std::string& prefix) {
  const Attributes part = context.attributes().part(prefix);
  const auto& ops = part.get<std::vector<std::string>>("post_ops");
  for (const char* name : {"post_alphas", "post_betas"}) {
    const size_t count = part.get<std::vector<float>>(name).size();
    context.require(count == ops.size(), "attribute '{}{}' has {} entries for {} post-ops", prefix, name,
                    count, ops.size());
  }
  for (const std::string& op : ops) {
    const auto kind = find_post_op(op);
    context.require(kind && !is_binary(*kind), "attribute '{}post_ops' names '{}', which is no activation",
                    prefix, op);
  }
}

}  // namespace hone::graph
