// See printer.hpp.
#include "graph/text/printer.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "graph/operator.hpp"
#include "graph/text/node_names.hpp"

namespace hone::graph {
namespace {

class GraphPrinter {
 public:
  GraphPrinter(const Graph& graph, const PrintOptions& options, size_t indent)
      : graph_(graph), options_(options), indent_(indent), shown_(graph.values.size(), false) {
    name_values();
  }

  std::string print() {
    std::string inputs;
    for (const ValueId id : graph_.inputs) {
      const TensorType& type = graph_.value(id).type;
      inputs += (inputs.empty() ? "" : ", ") + name(id);
      if (is_known(type)) inputs += ": " + type_spelling(type);
    }
    text_ = fmt::format("graph {}({}) -> ({}) {{\n", graph_.name.empty() ? "" : quoted(graph_.name) + " ",
                        inputs, list(graph_.outputs));
    if (options_.unused_constants) print_unused();
    for (const Node& node : graph_.nodes) print_node(node);
    print_constants(graph_.outputs);
    return text_ + std::string(indent_, ' ') + "}";
  }

 private:
  static constexpr size_t kStep = 2;

  static bool is_known(const TensorType& type) { return type.dtype != DType::kUndefined || type.ranked(); }

  void name_values() {
    std::set<std::string> all;
    for (const Value& value : graph_.values) all.insert(value.name);
    std::set<std::string> taken;
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      std::string own = graph_.values[i].name;
      if (own.empty() || !taken.insert(own).second) {
        own = fmt::format("{}#{}", own, i);
        while (!all.insert(own).second) own += '#';
      }
      names_.push_back(std::move(own));
    }
  }

  std::string name(ValueId id) const {
    return id == kNoValue ? "_" : value_spelling(names_[static_cast<size_t>(id)]);
  }

  std::string list(const std::vector<ValueId>& ids) const {
    std::string text;
    for (const ValueId id : ids) text += (text.empty() ? "" : ", ") + name(id);
    return text;
  }

  void add_line(const std::string& line) { text_ += std::string(indent_ + kStep, ' ') + line + "\n"; }

  void print_constant(ValueId id) {
    const auto& tensor = graph_.value(id).constant;
    if (!tensor || shown_[static_cast<size_t>(id)]) return;
    shown_[static_cast<size_t>(id)] = true;
    add_line(fmt::format("{} = const {}", name(id), tensor_spelling(*tensor, options_.elements)));
  }

  void print_constants(const std::vector<ValueId>& ids) {
    for (const ValueId id : ids) {
      if (id != kNoValue) print_constant(id);
    }
  }

  void print_unused() {
    std::vector<bool> used(graph_.values.size(), false);
    const auto mark = [&](const std::vector<ValueId>& ids) {
      for (const ValueId id : ids) {
        if (id != kNoValue) used[static_cast<size_t>(id)] = true;
      }
    };
    for (const Node& node : graph_.nodes) mark(node.inputs);
    mark(graph_.outputs);
    for (size_t i = 0; i < used.size(); ++i) {
      if (!used[i]) print_constant(static_cast<ValueId>(i));
    }
  }

  void print_node(const Node& node) {
    print_constants(node.inputs);
    add_line(fmt::format("{} = {}({}){}{}{}", list(node.outputs), node.op, list(node.inputs),
                         attributes(node), types(node), names(node)));
  }

  /// Prints the attributes in one line, or in one line each if one of them is a graph.
  std::string attributes(const Node& node) const {
    std::vector<std::string> items;
    for (const AttributeDef& attribute : find_operator(node.op)->attributes) {
      const Attribute* value = node.attributes.find(attribute.name);
      if (value == nullptr) continue;
      const std::string text = spelled(*value);
      // Equal texts mean equal values; -0 and 0 have different texts.
      if (!attribute.fallback || text != spelled(*attribute.fallback))
        items.push_back(fmt::format("{} = {}", attribute.name, text));
    }
    if (items.empty()) return "";
    if (!has_body(node)) return fmt::format(" {{{}}}", fmt::join(items, ", "));
    const std::string gap = "\n" + std::string(indent_ + 2 * kStep, ' ');
    return fmt::format(" {{{}{}\n{}}}", gap, fmt::join(items, "," + gap), std::string(indent_ + kStep, ' '));
  }

  std::string spelled(const Attribute& value) const {
    return std::visit([&](const auto& held) { return spelled(held); }, value);
  }
  std::string spelled(int64_t value) const { return std::to_string(value); }
  std::string spelled(float value) const { return float_spelling(value); }
  std::string spelled(const std::string& value) const { return quoted(value); }
  std::string spelled(const Tensor& value) const { return tensor_spelling(value, options_.elements); }
  std::string spelled(const std::shared_ptr<Graph>& value) const {
    return GraphPrinter(*value, options_, indent_ + 2 * kStep).print();
  }
  template <class T>
  std::string spelled(const std::vector<T>& values) const {
    std::string list;
    for (const T& value : values) list += (list.empty() ? "" : ", ") + spelled(value);
    return "[" + list + "]";
  }

  std::string types(const Node& node) const {
    std::string text;
    bool any = false;
    for (const ValueId id : node.outputs) {
      const bool known = id != kNoValue && is_known(graph_.value(id).type);
      any = any || known;
      text += (text.empty() ? "" : ", ") + (known ? type_spelling(graph_.value(id).type) : "_");
    }
    return any ? " : " + text : "";
  }

  /// The node's name and sources, unless they are the defaults.
  std::string names(const Node& node) const {
    const auto first =
        std::find_if(node.outputs.begin(), node.outputs.end(), [](ValueId id) { return id != kNoValue; });
    const std::string result = first == node.outputs.end() ? "" : names_[static_cast<size_t>(*first)];
    std::string text;
    if (node.name != default_node_name(node.sources, result)) text += " name " + quoted(node.name);
    if (node.sources == default_sources(node.name)) return text;
    return text + " from " + spelled(node.sources);
  }

  const Graph& graph_;
  const PrintOptions& options_;
  size_t indent_;
  std::vector<bool> shown_;
  std::vector<std::string> names_;
  std::string text_;
};

}  // namespace

std::string print_graph(const Graph& graph, const PrintOptions& options) {
  return GraphPrinter(graph, options, 0).print() + "\n";
}

}  // namespace hone::graph
