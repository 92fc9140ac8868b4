// See step_signature.hpp.
#include "engine/search/step_signature.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "graph/subgraph.hpp"

namespace hone::engine {
namespace {

std::string body_text(const graph::Graph& body);

std::string attribute_text(const graph::Attribute& attribute) {
  struct Visitor {
    std::string operator()(int64_t value) const { return std::to_string(value); }
    std::string operator()(float value) const { return fmt::format("{}", value); }
    std::string operator()(const std::string& value) const { return value; }
    std::string operator()(const std::vector<int64_t>& values) const {
      return fmt::format("{}", fmt::join(values, ","));
    }
    std::string operator()(const std::vector<float>& values) const {
      return fmt::format("{}", fmt::join(values, ","));
    }
    std::string operator()(const std::vector<std::string>& values) const {
      return fmt::format("{}", fmt::join(values, ","));
    }
    std::string operator()(const tensor::Tensor& value) const { return tensor::shape_text(value.shape()); }
    std::string operator()(const std::shared_ptr<graph::Graph>& value) const { return body_text(*value); }
  };
  return std::visit(Visitor{}, attribute);
}

std::string node_text(const graph::Node& node) {
  std::string text = node.op;
  for (const auto& [name, value] : node.attributes)
    text += fmt::format(" {}={}", name, attribute_text(value));
  return text;
}

/// Describes the nodes with their inputs and outputs as numbers, because names of values do not affect times.
/// The types of the inputs are described with the node that contains the body.
std::string body_text(const graph::Graph& body) {
  std::map<graph::ValueId, size_t> numbers;
  const auto list = [&](const std::vector<graph::ValueId>& ids) {
    std::string text;
    for (const graph::ValueId id : ids) {
      text += text.empty() ? "" : ",";
      if (id != graph::kNoValue) text += std::to_string(numbers.emplace(id, numbers.size()).first->second);
    }
    return text;
  };
  std::string text = "{" + list(body.inputs);
  for (const graph::Node& node : body.nodes) {
    text += fmt::format("; {} ({})", node_text(node), list(node.inputs));
    text += " > " + list(node.outputs);
  }
  for (const auto& [id, number] : numbers) {
    if (body.value(id).constant) text += fmt::format("; {}: {}c", number, body.value(id).type.text());
  }
  return text + "; " + list(body.outputs) + "}";
}

/// Escapes bytes beyond ASCII: strings of a model need not be valid UTF-8, but the file of the cache is
/// UTF-8.
std::string ascii(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    result += byte < 0x80 ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return result;
}

}  // namespace

std::string step_signature(const graph::Graph& graph, const graph::Node& node, Layout layout,
                           std::span<const NumericPolicy> policies) {
  std::string text = fmt::format("{} {} {}", node_text(node), layout_name(layout), policies_text(policies));
  // Entries without this word come from versions that always ran such nodes with the reference.
  if (graph::controls_subgraphs(node)) text += " compiled";
  if (const auto condition = graph::known_condition(graph, node)) text += *condition ? " then" : " else";
  for (const graph::ValueId id : node.inputs) {
    text += id == graph::kNoValue
                ? " -"
                : fmt::format(" {}{}", graph.value(id).type.text(), graph.constant(id) != nullptr ? "c" : "");
  }
  const auto leaves = [&](graph::ValueId id) {
    return std::find(graph.outputs.begin(), graph.outputs.end(), id) != graph.outputs.end();
  };
  for (const graph::ValueId id : node.outputs) {
    text += id == graph::kNoValue
                ? " >-"
                : fmt::format(" {}{}", leaves(id) ? ">>" : ">", graph.value(id).type.text());
  }
  return ascii(text);
}

std::string graph_signature(const graph::Graph& graph, std::span<const NumericPolicy> policies) {
  uint64_t digest = 1469598103934665603ull;  // FNV-1a
  const auto add = [&](const std::string& text) {
    for (const char c : text) digest = (digest ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  };
  for (const graph::Node& node : graph.nodes) {
    add(step_signature(graph, node, Layout::kPlain, policies));
    for (const graph::ValueId id : node.inputs) add(fmt::format("<{}", id));
    for (const graph::ValueId id : node.outputs) add(fmt::format(">{}", id));
  }
  return fmt::format("{} nodes {:016x}", graph.nodes.size(), digest);
}

}  // namespace hone::engine
