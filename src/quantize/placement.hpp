// Decides which nodes of a model compute with integers, and which of their inputs are quantized for that.
//
// The rules are those of NVIDIA's guide to explicit quantization, so that the results can be fused:
//   - Inputs of convolutions and of products with constant weights are quantized; their results are not.
//   - If the result of an addition is quantized, an operand that a convolution or product computes only for
//     this addition stays unquantized: it is the accumulator with which the addition is fused. The other
//     operand, the shortcut, is quantized. If both operands could be accumulators, the shortcut is the one
//     with the shorter path from the model's inputs.
//   - Pooling, concatenation and operators that only move elements compute with integers if all readers of
//     their results do. Except for average pooling, inputs and result share one range.
//   - A value with readers of both kinds is quantized only for those that read integers.
//   - The gates of squeeze-and-excitation, results that are outputs of the model, and all other operators
//     stay in floating point.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace hone::quantize {

/// A value that is quantized.
struct QuantizedValue {
  graph::ValueId value = graph::kNoValue;
  /// Values with equal numbers share one range.
  int group = 0;
  /// The axis of input channels for its first reader with weights; -1 if no such node reads it.
  int64_t channel_axis = -1;
};

/// An input of a node that reads a value as integers.
struct QuantizedRead {
  int32_t node = 0;
  size_t input = 0;
};

/// A node whose input 1 is constant weights and whose input 2, if present, is its bias.
struct WeightedNode {
  int32_t node = 0;
  /// Axis of the weights with one scale for each entry.
  int64_t axis = 0;
};

/// A convolution or product that stays in floating point.
struct FloatProduct {
  std::string node;  ///< "node 'conv1' (Conv)"
  std::string reason;
};

struct Placement {
  std::vector<QuantizedValue> values;
  std::vector<QuantizedRead> reads;
  std::vector<WeightedNode> weighted;
  /// Share of the operations of all convolutions and matrix products that `weighted` nodes perform, 0 to 1.
  double int8_share = 0;
  /// Convolutions and products that stay in floating point.
  std::vector<FloatProduct> kept;
};

/// The products for which a device has integer kernels.
struct PlacementRules {
  /// The number of channels that a convolution or product sums over must be a multiple of this.
  int64_t channel_multiple = 1;
  /// True if grouped and transposed convolutions are included.
  bool every_convolution = true;
  /// Convolutions and products, by index, that stay in floating point. An addition that is fused with one of
  /// them reads no integers either, so the values and reads are a subset of those without this restriction.
  std::set<int32_t> kept = {};
};

/// Places quantizations in a graph in the form of float_graph().
Placement place(const graph::Graph& graph, const PlacementRules& rules = {});

/// Returns the part of a placement that stricter rules allow. Its values keep their order; those that no node
/// reads as integers any more are not quantized.
Placement restricted(const graph::Graph& graph, const Placement& placement, const PlacementRules& rules);

}  // namespace hone::quantize
