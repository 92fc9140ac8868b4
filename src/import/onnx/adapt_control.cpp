// In opset 8, all operands of a Scan had a leading batch dimension. It becomes a Scan over the batch whose
// body is the Scan over the sequence.
#include "import/onnx/adapt.hpp"

namespace hone::importer {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::ValueId;

/// The opset of the forms that the rules write.
constexpr int kNewest = 22;

graph::TensorType without_batch(const graph::TensorType& type) {
  graph::TensorType result = type;
  if (result.ranked() && !result.dims->empty()) result.dims->erase(result.dims->begin());
  return result;
}

graph::Attributes axis_zero() {
  graph::Attributes attributes;
  attributes.set("axis", int64_t{0});
  return attributes;
}

/// Shortens scan input i to its first `sizes[0]` elements; bad input if it has fewer.
void cut(Rewrite& sample, size_t i, ValueId sizes) {
  graph::Node split;
  split.name = fmt::format("{}.sequence_lens{}", sample.node.name, i);
  split.op = "Split";
  split.inputs = {sample.node.inputs[i], sizes};
  split.outputs = {sample.graph.add_value(split.name), sample.graph.add_value(split.name + ".rest")};
  split.attributes = axis_zero();
  split.sources = sample.node.sources;
  sample.node.inputs[i] = split.outputs[0];
  add_checked_node(sample.graph, std::move(split));
}

/// The Scan of one sample reads the first `length` elements of its scan inputs, also if it runs backwards,
/// and its scan outputs are as long as the longest sequence. The specification does not define the values
/// after the end of a sequence; they are zeros, as in ONNX Runtime.
void limit_length(Rewrite& sample, ValueId length, size_t states, size_t scans) {
  graph::Attributes first;
  first.set("start", int64_t{0});
  first.set("end", int64_t{1});
  const ValueId longest = sample.before("Shape", {sample.node.inputs[states]}, std::move(first));
  const ValueId own = sample.before("Reshape", {length, sample.ints("one", {1})});
  const ValueId rest = sample.before("Sub", {longest, own});
  const ValueId sizes = sample.before("Concat", {own, rest}, axis_zero());
  for (size_t i = states; i < states + scans; ++i) cut(sample, i, sizes);
  const ValueId pads = sample.before("Concat", {sample.ints("zero", {0}), rest}, axis_zero());
  const ValueId axes = sample.ints("axis", {0});
  for (size_t i = states; i < sample.node.outputs.size(); ++i) {
    sample.after(i, "Pad", {pads, kNoValue, axes});
  }
}

void scan_per_sample(Rewrite& r) {
  if (r.opset != 8) return;
  const auto captures = static_cast<size_t>(r.attribute<int64_t>("num_captures", 0));
  if (r.node.inputs.size() < captures + 2)
    fail_bad_input("{} inputs, expected sequence_lens and a scan input", r.node.inputs.size() - captures);
  const bool limited = r.node.has_input(0);
  if (r.node.attributes.has("directions")) {
    r.node.attributes.set("scan_input_directions", *r.node.attributes.find("directions"));
    r.node.attributes.erase("directions");
  }
  const auto scans = static_cast<size_t>(r.attribute<int64_t>("num_scan_inputs", 0));
  if (!limited) r.node.inputs.erase(r.node.inputs.begin());
  const size_t scanned = r.node.inputs.size() - captures;
  if (scans < 1 || scans + (limited ? 1 : 0) > scanned)
    fail_bad_input("attribute 'num_scan_inputs' is outside [1, {}]", scanned - (limited ? 1 : 0));

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
  if (limited) inner.inputs.erase(inner.inputs.begin());
  Rewrite sample(*body, std::move(inner), kNewest);
  if (limited) limit_length(sample, body->inputs[0], scanned - 1 - scans, scans);
  sample.finish();

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
