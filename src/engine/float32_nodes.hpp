// Which nodes are computed and kept in float32 whatever the precision of an engine, since rounding to 16 bits
// would make other angles, positions or indices of their results.
#pragma once

#include <vector>

#include "engine/numeric_policy.hpp"
#include "graph/graph.hpp"

namespace hone::engine {

/// One entry a node of the graph, whose shapes are known as far as they ever are. True where all that is made
/// of a node's results, however many cheap nodes lie between, are sines, integers, truth values or places to
/// read at (of GridSample, say): what makes those reads float32 where it is given that, whatever its own
/// policy. Convolutions, products of long rows and what holds a graph stay as they are: their own errors are
/// larger than that of rounding the result, and float32 would cost much there. Two exceptions keep quantized
/// models to their numbers: products of dequantized values, and regions of quantized numbers.
///
/// `storage` is the type in which other numbers are kept. The eleven bits of float16 are enough for a number
/// that becomes a byte: they are off by a sixteenth of a step at most, so there regions of quantized numbers
/// and the inputs of QuantizeLinear are like other nodes.
std::vector<bool> float32_nodes(const graph::Graph& graph, tensor::DType storage = tensor::DType::kBFloat16);

/// The numeric policies of a graph's nodes: fp32 instead of one that rounds more than the node allows.
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

/// How many numbers in constants that the other nodes read lie beyond the range of an element type of 16
/// bits, so that an engine that stores in it keeps its largest number in their place.
int64_t count_saturated_constants(const graph::Graph& graph, tensor::DType storage);

}  // namespace hone::engine
