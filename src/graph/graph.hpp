// The model in memory: values, constants, and nodes in topological order.
//
// Invariants (verify.hpp checks them): every node input is a graph input, a constant, or an output of an
// earlier node; a value has one producer; all operators are in the operator table, and all attributes with a
// default are present. Operators have the semantics of ONNX opset 22, whatever the opset of the file: the
// importer rewrites older forms. Subgraphs (If, Loop, Scan) cannot refer to outer values: captured values are
// extra inputs, the last `num_captures` inputs of the node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/attribute.hpp"
#include "graph/dim.hpp"
#include "tensor/tensor.hpp"

namespace hone::graph {

using tensor::DType;
using tensor::Tensor;

using ValueId = int32_t;
/// An optional input or output that is absent.
inline constexpr ValueId kNoValue = -1;

/// Element type and shape, as far as they are known before the engine runs.
struct TensorType {
  DType dtype = DType::kUndefined;
  /// Empty if even the rank is unknown.
  std::optional<Dims> dims;

  bool ranked() const { return dims.has_value(); }
  bool fully_known() const { return ranked() && all_known(*dims); }
  /// "float32[1x3x224x224]".
  std::string text() const;
};

struct Value {
  std::string name;
  TensorType type;
  /// Set for initializers and folded values. Its bytes are absent if an engine keeps the data only in packed
  /// form.
  std::optional<Tensor> constant;
  /// Elements of a small integer value (rank 0 or 1), as far as shape inference knows them.
  std::optional<Dims> data;
};

struct Node {
  std::string name;
  std::string op;
  Attributes attributes;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  /// Names of the nodes of the model that this node replaces; fusions concatenate them.
  std::vector<std::string> sources;

  ValueId input(size_t i) const { return i < inputs.size() ? inputs[i] : kNoValue; }
  ValueId output(size_t i) const { return i < outputs.size() ? outputs[i] : kNoValue; }
  bool has_input(size_t i) const { return input(i) != kNoValue; }
  bool has_output(size_t i) const { return output(i) != kNoValue; }
  /// "node 'conv1' (Conv)", for messages.
  std::string text() const;
};

class Graph {
 public:
  std::string name;
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;

  ValueId add_value(std::string value_name, TensorType type = {});
  ValueId add_constant(std::string value_name, Tensor tensor);
  Node& add_node(Node node);

  Value& value(ValueId id) { return values[static_cast<size_t>(id)]; }
  const Value& value(ValueId id) const { return values[static_cast<size_t>(id)]; }
  /// Null for kNoValue, for values that are not constant, and for constants whose data an engine file keeps
  /// only in packed form.
  const Tensor* constant(ValueId id) const;

  /// Replaces `from` by `to` in every node input and graph output.
  void replace_uses(ValueId from, ValueId to);
  /// Removes the nodes for which `dead` is true, and keeps the order of the others.
  void remove_nodes(const std::vector<bool>& dead);
  /// Sorts nodes so that producers come first (stable); throws bad input that names a node if there is a
  /// cycle.
  void sort_topologically();
};

/// The producer and the readers of each value of a graph. They are a snapshot, valid until the graph changes.
struct Links {
  explicit Links(const Graph& graph);
  /// Index of the producing node, or -1 for graph inputs and constants.
  std::vector<int32_t> producer;
  /// Indices of the reading nodes, one entry per read.
  std::vector<std::vector<int32_t>> consumers;
  std::vector<bool> is_output;

  int32_t producer_of(ValueId id) const { return id == kNoValue ? -1 : producer[static_cast<size_t>(id)]; }
  /// The only reader of a value that is not a graph output; -1 otherwise.
  int32_t single_consumer(ValueId id) const;
};

/// For each node, lists the nodes whose outputs it reads, in ascending order and each once.
std::vector<std::vector<int32_t>> node_predecessors(const Graph& graph);

}  // namespace hone::graph
