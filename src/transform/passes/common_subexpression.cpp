// Computes equal results once: nodes with the same operator, attributes and inputs, and small constants with
// the same elements.
#include <map>

#include "graph/operator.hpp"
#include "transform/constants.hpp"
#include "transform/editor.hpp"
#include "transform/pass_list.hpp"

namespace hone::transform {
namespace {

constexpr size_t kMaxComparedBytes = 1024;

template <class T>
void append_raw(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void append_text(std::string& key, const std::string& text) {
  append_raw(key, text.size());
  key += text;
}

void append_tensor(std::string& key, const Tensor& tensor) {
  append_raw(key, tensor.dtype());
  append_raw(key, tensor.rank());
  for (const int64_t dim : tensor.shape()) append_raw(key, dim);
  key.append(reinterpret_cast<const char*>(tensor.bytes()), tensor.byte_size());
}

/// Appends an attribute's value; returns false for attributes that are not compared.
struct AppendAttribute {
  std::string& key;

  bool operator()(const std::shared_ptr<Graph>&) const { return false; }
  bool operator()(const Tensor& tensor) const {
    if (tensor.byte_size() > kMaxComparedBytes) return false;
    append_tensor(key, tensor);
    return true;
  }
  bool operator()(const std::string& text) const {
    append_text(key, text);
    return true;
  }
  template <class T>
  bool operator()(const std::vector<T>& list) const {
    append_raw(key, list.size());
    for (const T& item : list) (*this)(item);
    return true;
  }
  bool operator()(int64_t value) const {
    append_raw(key, value);
    return true;
  }
  bool operator()(float value) const {
    append_raw(key, value);
    return true;
  }
};

/// Equal keys mean equal results; the key is empty if the node is not compared.
std::string key_of(const Node& node) {
  if (graph::traits_of(node).random) return {};
  std::string key = node.op;
  std::map<std::string, const graph::Attribute*> sorted;
  for (const auto& [name, value] : node.attributes) sorted[name] = &value;
  for (const auto& [name, value] : sorted) {
    append_text(key, name);
    append_raw(key, value->index());
    if (!std::visit(AppendAttribute{key}, *value)) return {};
  }
  for (const ValueId id : node.inputs) append_raw(key, id);
  append_raw(key, node.outputs.size());
  for (const ValueId id : node.outputs) append_raw(key, id == kNoValue);
  return key;
}

void merge_constants(Editor& editor, Summary& summary) {
  std::map<std::string, ValueId> known;
  Graph& graph = editor.graph();
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const auto id = static_cast<ValueId>(i);
    const Tensor* tensor = graph.constant(id);
    if (tensor == nullptr || tensor->byte_size() > kMaxComparedBytes || editor.read_count(id) == 0) continue;
    std::string key;
    append_tensor(key, *tensor);
    const auto [entry, inserted] = known.emplace(std::move(key), id);
    if (inserted) continue;
    summary.change(
        fmt::format("constant '{}' is '{}'", graph.value(id).name, graph.value(entry->second).name));
    editor.redirect(id, entry->second);
  }
}

bool has_graph_output(const Editor& editor, const Node& node) {
  for (const ValueId id : node.outputs) {
    if (id != kNoValue && editor.is_output(id)) return true;
  }
  return false;
}

}  // namespace

Summary common_subexpression(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  merge_constants(editor, summary);
  std::map<std::string, int32_t> known;
  for (int32_t i = 0; i < editor.count(); ++i) {
    const Node node = editor.node(i);
    std::string key = key_of(node);
    if (key.empty()) continue;
    const auto [entry, inserted] = known.emplace(std::move(key), i);
    if (inserted) continue;
    const Node& first = editor.node(entry->second);
    if (has_graph_output(editor, node)) {
      summary.refuse(
          fmt::format("'{}' repeats '{}', but makes a graph output of its own", node.name, first.name));
      continue;
    }
    summary.change(fmt::format("'{}' repeats '{}'", node.name, first.name));
    const std::vector<ValueId> results = first.outputs;
    editor.remove(i);
    for (size_t k = 0; k < results.size(); ++k) {
      if (results[k] != kNoValue) editor.redirect(node.outputs[k], results[k]);
    }
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
