// Finds and applies the expansion of a node.
#include "import/onnx/expand/rules.hpp"

#include <fmt/ranges.h>

#include <map>
#include <set>

namespace hone::importer {
namespace {

constexpr auto kTables = {
    activation_expansions,
    attention_expansions,
    block_quantized_expansions,
    dynamic_quantized_expansions,
    fused_product_expansions,
    group_query_expansions,
    linear_model_expansions,
    matrix_expansions,
    microsoft_attention_expansions,
    norm_expansions,
    quantized_expansions,
    random_expansions,
    rotary_expansions,
    sequence_expansions,
    table_quantized_expansions,
    tree_expansions,
    twin_expansions,
};

}  // namespace

const ExpansionRule* find_expansion(std::string_view domain, std::string_view op, int opset) {
  for (const auto table : kTables) {
    for (const ExpansionRule& rule : table()) {
      if (rule.op == op && rule.domain == domain && opset >= rule.since) return &rule;
    }
  }
  return nullptr;
}

std::string expansions_markdown() {
  std::map<std::string_view, std::set<std::string>> names;
  for (const auto table : kTables) {
    for (const ExpansionRule& rule : table()) {
      names[rule.domain].insert(rule.since == 0 ? std::string(rule.op)
                                                : fmt::format("{} (since {})", rule.op, rule.since));
    }
  }
  std::string text =
      "\n## Read by rewriting\n\n"
      "Operators that become several of the table when a model is read. An attribute, an input or an output "
      "that "
      "the\n"
      "rewriting does not know is refused by name. Random operators draw the same numbers in every run.\n"
      "Operators on sequences of tensors are resolved where their lengths and positions are known when a "
      "model is read.\n\n"
      "| domain | operators |\n|---|---|\n";
  for (const auto& [domain, operators] : names) {
    text += fmt::format("| {} | {} |\n", domain.empty() ? "ONNX" : domain, fmt::join(operators, ", "));
  }
  return text;
}

void expand_node(graph::Graph& graph, graph::Node node, int opset, const ExpansionRule& rule) {
  Expansion expansion(graph, std::move(node), opset);
  rule.apply(expansion);
  expansion.finish();
}

}  // namespace hone::importer
