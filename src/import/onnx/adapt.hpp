// Converts other forms of operators to the form of the operator table, which is that of opset 22. Each file
// adapt_*.cpp has the rules of one family; a rule rewrites a node and may add nodes before and after it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"

namespace hone::importer {

/// Completes the node from the operator table, adds it, infers its output types.
void add_checked_node(graph::Graph& graph, graph::Node node);

/// One node that is being converted from the opset of its file to opset 22.
class Rewrite {
 public:
  Rewrite(graph::Graph& graph, graph::Node node, int opset)
      : graph(graph), node(std::move(node)), opset(opset) {}

  graph::Graph& graph;
  graph::Node node;
  const int opset;

  graph::ValueId constant(std::string_view stem, graph::Tensor tensor);
  graph::ValueId ints(std::string_view stem, const std::vector<int64_t>& values);
  /// Adds a node with one output before the node.
  graph::ValueId before(std::string op, std::vector<graph::ValueId> inputs,
                        graph::Attributes attributes = {});
  /// Adds `op` after the node: it computes output i from the node's own result and from `more` inputs.
  void after(size_t output, std::string op, std::vector<graph::ValueId> more,
             graph::Attributes attributes = {});
  /// Sets input i, filling absent ones before it.
  void set_input(size_t i, graph::ValueId id);
  /// Converts an integer attribute, with one or several values, to the constant input i, if it is present.
  void attribute_to_input(std::string_view attribute, size_t i);
  /// The attribute, or `fallback`; bad input if it has another type in the file.
  template <class T>
  T attribute(std::string_view name, T fallback) const {
    const graph::Attribute* value = node.attributes.find(name);
    if (value == nullptr) return fallback;
    if (const T* typed = std::get_if<T>(value)) return *typed;
    fail_bad_input("attribute '{}' has the wrong type {}", name, graph::attribute_type_name(value->index()));
  }
  /// Element type of input i; bad input if it is not known.
  graph::DType dtype(size_t i) const;
  /// Dimensions of input i, or null if its rank is not known.
  const graph::Dims* dims(size_t i) const;

  /// Applies every rule for the node's operator and opset, then adds the resulting nodes to the graph.
  void finish();

 private:
  graph::Node derived(std::string op, std::vector<graph::ValueId> inputs, graph::Attributes attributes) const;

  std::vector<graph::Node> after_;
};

/// A rule for nodes of operator `op` from files with an opset below `below`. Rules apply in table order.
struct AdaptRule {
  std::string_view op;
  int below;
  void (*apply)(Rewrite&);
};

std::span<const AdaptRule> first_rules();      ///< forms from before opset 7
std::span<const AdaptRule> shape_rules();      ///< attributes that became inputs, Scatter
std::span<const AdaptRule> reduction_rules();  ///< Reduce*, Softmax family, TopK, DFT
std::span<const AdaptRule> image_rules();      ///< Resize, Upsample, RoiAlign, GridSample
std::span<const AdaptRule> layer_rules();      ///< BatchNormalization, Dropout, Clip, GroupNormalization
std::span<const AdaptRule> control_rules();    ///< Scan of opset 8
std::span<const AdaptRule> type_rules();       ///< Cast, QuantizeLinear and DequantizeLinear of opset 23

/// True if the operator's form in this opset (below 7) is already that of opset 7, or if first_rules()
/// convert it to that form.
bool is_readable_below_7(std::string_view op, int opset);

}  // namespace hone::importer
