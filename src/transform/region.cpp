// See region.hpp.
#include "transform/region.hpp"

#include <map>

#include "graph/infer.hpp"
#include "graph/region.hpp"
#include "transform/fusion.hpp"

namespace hone::transform {
namespace {

/// The body of a region under construction, and the inputs of the region.
class BodyMaker {
 public:
  void add(const Part& part) {
    Node node = part.node;
    node.name = part.role;
    node.sources = {part.role};
    for (ValueId& id : node.inputs) id = inner(id);
    while (node.outputs.back() == kNoValue) node.outputs.pop_back();
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId made = body_->add_value(i == 0 ? part.role : fmt::format("{}.{}", part.role, i));
      if (node.has_output(i)) inner_.emplace(node.outputs[i], made);
      node.outputs[i] = made;
    }
    // The types of some results do not depend on the inputs, and bodies that are parsed from text contain
    // them, so they are inferred here too.
    graph::infer_node(*body_, body_->add_node(std::move(node)));
  }

  std::shared_ptr<Graph> finish(const std::vector<ValueId>& outputs) {
    for (const ValueId id : outputs) body_->outputs.push_back(inner_.at(id));
    return body_;
  }
  const std::vector<ValueId>& inputs() const { return inputs_; }

 private:
  /// The value in the body: an input, unless an earlier node produces it.
  ValueId inner(ValueId id) {
    if (id == kNoValue) return kNoValue;
    const auto found = inner_.find(id);
    if (found != inner_.end()) return found->second;
    body_->inputs.push_back(body_->add_value(fmt::format("in{}", inputs_.size())));
    inputs_.push_back(id);
    return inner_.emplace(id, body_->inputs.back()).first->second;
  }

  std::shared_ptr<Graph> body_ = std::make_shared<Graph>();
  std::map<ValueId, ValueId> inner_;
  std::vector<ValueId> inputs_;
};

}  // namespace

Node make_region(const std::string& kind, const std::vector<Part>& parts,
                 const std::vector<ValueId>& outputs) {
  BodyMaker body;
  std::vector<const Node*> nodes;
  for (const Part& part : parts) {
    body.add(part);
    nodes.push_back(&part.node);
  }
  Node region;
  region.op = graph::kRegion;
  region.attributes.set("kind", kind);
  region.attributes.set("body", body.finish(outputs));
  region.inputs = body.inputs();
  region.outputs = outputs;
  join_names(region, nodes);
  return region;
}

}  // namespace hone::transform
