// Which nodes of a model compute with integers, and which of their inputs are quantized for that.
//
// The rules are those of NVIDIA's guide to explicit quantization, so that what the result becomes stays
// fusible:
//   - Inputs of convolutions and of products with constant weights are quantized, their results are not.
//   - Of an addition whose result is quantized, an operand that a convolution or product makes for it alone
//   stays
//     as it is: it is the accumulator that the addition is fused into. The other one, the shortcut, is
//     quantized. Where both are such, the shortcut is the one that fewer nodes stand before.
//   - Pooling, concatenation and what only moves elements compute with integers where those who read the
//   result do.
//     All but average pooling have one range for their inputs and result.
//   - A value that integers and floating point read is quantized for the former only.
//   - The gates of squeeze-and-excitation, results that are the model's outputs, and all other operators stay
//   in
//     floating point.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace hone::quantize {

/// A value that is quantized.
struct QuantizedValue {
  graph::ValueId value = graph::kNoValue;
  /// Values with the same number here have one range.
  int group = 0;
  /// The axis along which its first reader with weights has its input channels; -1 where none reads it.
  int64_t channel_axis = -1;
};

/// An input of a node that reads a value through its integers.
struct QuantizedRead {
  int32_t node = 0;
  size_t input = 0;
};

/// A node whose input 1 are constant weights and whose input 2, if any, is its bias.
struct WeightedNode {
  int32_t node = 0;
  /// Axis of the weights with one scale an entry.
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
  /// Share of the operations of all convolutions and matrix products that `weighted` do, 0 to 1.
  double int8_share = 0;
  /// Convolutions and products that stay in floating point.
  std::vector<FloatProduct> kept;
};

/// The products that the kernels of a device multiply as integers.
struct PlacementRules {
  /// Channels that a convolution or product sums over are a multiple of it.
  int64_t channel_multiple = 1;
  /// Convolutions in groups, and transposed ones.
  bool every_convolution = true;
  /// Convolutions and products, by index, that stay in floating point; an addition that such a one is fused
  /// with reads no integers either. So the values and reads are among those of the placement without them.
  std::set<int32_t> kept = {};
};

/// Places quantizations in a graph in the form of float_graph().
Placement place(const graph::Graph& graph, const PlacementRules& rules = {});

/// The part of a placement that stricter rules allow. Its values stay, in their order; those that no node
/// reads as integers any more are not quantized.
Placement restricted(const graph::Graph& graph, const Placement& placement, const PlacementRules& rules);

}  // namespace hone::quantize
