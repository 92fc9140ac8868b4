// Finds nodes that are computed and stored in float32 in any precision of an engine, because rounding to 16
// bits would change angles, positions or indices that depend on their results.
#pragma once

#include <vector>

#include "engine/numeric_policy.hpp"
#include "graph/graph.hpp"

namespace hone::engine {

/// Returns one entry for each node of the graph, whose shapes should be inferred as far as possible. An entry
/// is true if all uses of a node's results, possibly through cheap nodes, are sines, integers, truth values
/// or read positions (for example of GridSample). Nodes that read such a value compute in float32 if they get
/// float32, whatever their own policy is. Convolutions, products of long rows and nodes with subgraphs are
/// excluded: their own errors are larger than the rounding of their results, and float32 would be expensive.
/// There are two exceptions that keep quantized models exact: products of dequantized values, and regions of
/// quantized numbers.
///
/// `storage` is the type in which other numbers are stored. The eleven bits of float16 suffice for a number
/// that becomes a byte, because its error is at most a sixteenth of a step; so with float16, regions of
/// quantized numbers and inputs of QuantizeLinear are treated like other nodes.
std::vector<bool> float32_nodes(const graph::Graph& graph, tensor::DType storage = tensor::DType::kBFloat16);

/// The numeric policies of a graph's nodes: fp32 instead of a policy that rounds more than the node allows.
class NodePolicies {
 public:
  explicit NodePolicies(const graph::Graph& graph)
      : float32_(float32_nodes(graph)), beside_half_(float32_nodes(graph, tensor::DType::kFloat16)) {}

  bool is_float32(int32_t node, const NumericPolicy& wanted) const {
    const auto& nodes = wanted.storage == tensor::DType::kFloat16 ? beside_half_ : float32_;
    return nodes[static_cast<size_t>(node)];
  }
  NumericPolicy policy_for(int32_t node, const NumericPolicy& wanted) const {
    return is_float32(node, wanted) ? policy_of(tensor::Precision::kFp32) : wanted;
  }

 private:
  std::vector<bool> float32_;
  std::vector<bool> beside_half_;
};

/// Counts the numbers in constants of the other nodes that exceed the range of a 16-bit element type. An
/// engine that stores in this type replaces them by its largest number.
int64_t count_saturated_constants(const graph::Graph& graph, tensor::DType storage);

}  // namespace hone::engine
