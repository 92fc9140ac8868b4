// See operator_doc.hpp.
#include "graph/operator_doc.hpp"

namespace hone::graph {
namespace {

struct ValueText {
  std::string operator()(int64_t value) const { return std::to_string(value); }
  std::string operator()(float value) const { return fmt::format("{}", value); }
  std::string operator()(const std::string& value) const { return '"' + value + '"'; }
  std::string operator()(const Tensor& value) const {
    return fmt::format("{} {}", tensor::dtype_name(value.dtype()), fmt::join(value.to_double(), ", "));
  }
  std::string operator()(const std::shared_ptr<Graph>&) const {
    fail_internal("a graph is no default value");
  }
  template <class T>
  std::string operator()(const std::vector<T>& values) const {
    return fmt::format("[{}]", fmt::join(values, ", "));
  }
};

std::string attributes_text(const OperatorDef& def) {
  std::string text;
  for (const AttributeDef& attribute : def.attributes) {
    text += fmt::format("{}`{}`", text.empty() ? "" : "; ", attribute_text(attribute));
  }
  return text;
}

void append_rows(std::string& text, bool own) {
  for (const OperatorDef& def : operator_table()) {
    if ((def.since_version == 0) != own) continue;
    text +=
        fmt::format("| {} | {} | {} | {} | {} |\n", def.name, own ? "-" : std::to_string(def.since_version),
                    count_text(def.min_inputs, def.max_inputs), count_text(def.min_outputs, def.max_outputs),
                    attributes_text(def));
  }
}

}  // namespace

std::string count_text(int minimum, int maximum) {
  if (minimum == maximum) return std::to_string(minimum);
  if (maximum == OperatorDef::kVariadic) return fmt::format("{} or more", minimum);
  return fmt::format("{} to {}", minimum, maximum);
}

std::string attribute_text(const AttributeDef& attribute) {
  const auto type = attribute_type_name(static_cast<size_t>(attribute.kind));
  if (attribute.fallback) {
    return fmt::format("{}: {} = {}", attribute.name, type, std::visit(ValueText(), *attribute.fallback));
  }
  return fmt::format("{}: {}, {}", attribute.name, type, attribute.required ? "required" : "optional");
}

std::string operators_markdown() {
  constexpr std::string_view kHeader =
      "| operator | since | inputs | outputs | attributes |\n|---|---|---|---|---|\n";
  std::string text =
      "# Operators\n\n"
      "<!-- Written by `hone ops --markdown`; a test compares this file with the operator table. -->\n\n"
      "Every operator of the table, in the form it has in ONNX opset 22; *since* is the opset in which that "
      "form\n"
      "came in. Models of opset 7 to 26 are rewritten to these forms when they are read.\n\n"
      "## ONNX\n\n";
  text += kHeader;
  append_rows(text, false);
  text +=
      "\n## Made by passes\n\n"
      "A base operator followed by `post_ops`, applied in order to its result. `post_alphas` and "
      "`post_betas` hold\n"
      "the parameters of each post-op; `add`, `mul` and `sub` take the next extra input. A `Region` does "
      "what "
      "the nodes\n"
      "of its body do, which gets the region's inputs and makes its outputs; `kind` names the pattern.\n\n";
  text += kHeader;
  append_rows(text, true);
  return text;
}

}  // namespace hone::graph
