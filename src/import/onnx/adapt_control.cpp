// Scan of opset 8 had a batch dimension in front of everything. It becomes a Scan over the batch whose body
// is the Scan over the sequence.
#include "import/onnx/adapt.hpp"

namespace hone::importer {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::ValueId;

graph::TensorType without_batch(const graph::TensorType& type) {
  graph::TensorType result = type;
  if (result.ranked() && !result.dims->empty()) result.dims->erase(result.dims->begin());
  return result;
}

void scan_per_sample(Rewrite& r) {
  if (r.opset != 8) return;
  if (r.node.has_input(0)) fail_bad_input("input 0 (sequence_lens) is not supported");
  if (r.node.attributes.has("directions")) {
    r.node.attributes.set("scan_input_directions", *r.node.attributes.find("directions"));
    r.node.attributes.erase("directions");
  }
  r.node.inputs.erase(r.node.inputs.begin());
  const auto captures = static_cast<size_t>(r.attribute<int64_t>("num_captures", 0));
  const size_t scanned = r.node.inputs.size() - captures;

  auto body = std::make_shared<Graph>();
  body->name = r.node.name + ".sample";
  graph::Node inner = r.node;
  for (size_t i = 0; i < inner.inputs.size(); ++i) {
    const graph::Value& outer = r.graph.value(r.node.inputs[i]);
    inner.inputs[i] = body->add_value(outer.name, i < scanned ? without_batch(outer.type) : outer.type);
    body->inputs.push_back(inner.inputs[i]);
  }
  for (size_t i = 0; i < inner.outputs.size(); ++i) {
    inner.outputs[i] = body->add_value(fmt::format("{}.{}", inner.name, i));
    body->outputs.push_back(inner.outputs[i]);
  }
  add_checked_node(*body, std::move(inner));

  graph::Attributes attributes;
  attributes.set("body", std::shared_ptr<Graph>(std::move(body)));
  attributes.set("num_scan_inputs", static_cast<int64_t>(scanned));
  attributes.set("num_captures", static_cast<int64_t>(captures));
  r.node.attributes = std::move(attributes);
}

constexpr AdaptRule kRules[] = {{"Scan", 9, scan_per_sample}};

}  // namespace

std::span<const AdaptRule> control_rules() { return kRules; }

}  // namespace hone::importer
