// The model in memory: values, constants, and nodes in topological order.
//
// Invariants (verify.hpp checks them): every node input is a graph input, a constant, or an output of
// an earlier node; a value has one producer; node operators stand in the operator table, with every
// attribute that has a default present. Operators have the semantics of ONNX opset 22 whatever the
// opset of the file was: the importer rewrites older forms. Subgraphs (If, Loop, Scan) see nothing
// outside themselves: what they capture is passed as extra inputs, the last `num_captures` of the node.
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

/// Element type and shape as far as they are known before the engine runs.
struct TensorType {
  DType dtype = DType::kUndefined;
  /// Absent when not even the rank is known.
  std::optional<Dims> dims;

  bool ranked() const { return dims.has_value(); }
  bool fully_known() const { return ranked() && all_known(*dims); }
  /// "float32[1x3x224x224]".
  std::string text() const;
};

struct Value {
  std::string name;
  TensorType type;
  /// Set for initializers and folded values. Its bytes are absent when an engine keeps the data in packed
  /// form only.
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
  /// Names of the model's own nodes that this one stands for; fusions concatenate them.
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
  /// in packed form only.
  const Tensor* constant(ValueId id) const;

  /// Makes every node input and graph output that is `from` be `to`.
  void replace_uses(ValueId from, ValueId to);
  /// Removes the nodes for which `dead` is true, keeping the order of the others.
  void remove_nodes(const std::vector<bool>& dead);
  /// Sorts nodes so that producers come first (stable); bad input naming a node when there is a cycle.
  void sort_topologically();
};

/// The producer and the readers of each value of a graph; a snapshot, valid until the graph changes.
struct Links {
  explicit Links(const Graph& graph);
  /// Index of the producing node, or -1 for graph inputs and constants.
  std::vector<int32_t> producer;
  /// Indices of the reading nodes, one entry per read.
  std::vector<std::vector<int32_t>> consumers;
  std::vector<bool> is_output;

  int32_t producer_of(ValueId id) const { return id == kNoValue ? -1 : producer[static_cast<size_t>(id)]; }
  /// The only reader of a value that is no graph output, or -1.
  int32_t single_consumer(ValueId id) const;
};

/// For each node, lists the nodes whose outputs it reads, ascending and each once.
std::vector<std::vector<int32_t>> node_predecessors(const Graph& graph);

}  // namespace hone::graph
