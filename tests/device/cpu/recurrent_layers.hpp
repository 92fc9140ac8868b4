// Recurrent layers that tests of the CPU's tactics make, and how far their results may be off.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "support/equivalence.hpp"

namespace hone::test {

using graph::Dim;
using graph::kNoValue;
using graph::ValueId;

/// A node to test; the default one is what a framework writes.
struct Layer {
  std::string op = "LSTM";
  std::string direction = "forward";
  int64_t layout = 0;
  int64_t linear_before_reset = 0;
  Dim steps = 5;
  Dim batch = 3;
  int64_t features = 6;
  int64_t hidden = 7;
  bool bias = true;
  bool initial_h = true;
  bool initial_c = true;
  /// Bit i: output i is there.
  unsigned outputs = 7;
  AttributeList attributes = {};

  int64_t directions() const { return direction == "bidirectional" ? 2 : 1; }
  int64_t gates() const { return op == "LSTM" ? 4 : op == "GRU" ? 3 : 1; }
  int output_count() const { return op == "LSTM" ? 3 : 2; }
  bool has_output(int i) const { return i < output_count() && (outputs >> i & 1) != 0; }
};

/// Operand 4, sequence_lens, and what else a test gives the node.
using Extra = std::function<void(GraphBuilder& b, std::vector<ValueId>& inputs)>;

inline graph::Graph graph_of(const Layer& layer, const Extra& extra = {}) {
  GraphBuilder b;
  const int64_t rows = layer.gates() * layer.hidden;
  const Dim count = layer.directions();
  const bool batch_major = layer.layout == 1;
  const graph::Dims state = batch_major ? graph::Dims{layer.batch, count, layer.hidden}
                                        : graph::Dims{count, layer.batch, layer.hidden};
  std::vector<ValueId> inputs = {
      b.input("x", batch_major ? graph::Dims{layer.batch, layer.steps, layer.features}
                               : graph::Dims{layer.steps, layer.batch, layer.features}),
      b.random({layer.directions(), rows, layer.features}),
      b.random({layer.directions(), rows, layer.hidden}),
      layer.bias ? b.random({layer.directions(), 2 * rows}) : kNoValue,
      kNoValue,
      layer.initial_h ? b.input("h", state) : kNoValue};
  if (layer.op == "LSTM") inputs.push_back(layer.initial_c ? b.input("c", state) : kNoValue);
  if (extra) extra(b, inputs);
  AttributeList attributes = layer.attributes;
  attributes.insert(attributes.end(), {{"direction", layer.direction}, {"layout", layer.layout}});
  if (layer.op == "GRU") attributes.emplace_back("linear_before_reset", layer.linear_before_reset);
  const auto results = b.nodes(layer.op, inputs, layer.output_count(), attributes);
  std::vector<ValueId> wanted;
  for (int i = 0; i < layer.output_count(); ++i) {
    if (layer.has_output(i)) wanted.push_back(results[static_cast<size_t>(i)]);
  }
  graph::Graph graph = b.finish(wanted);
  for (int i = 0; i < layer.output_count(); ++i) {
    if (!layer.has_output(i)) graph.nodes.back().outputs[static_cast<size_t>(i)] = kNoValue;
  }
  return graph;
}

/// A step rounds sums of features + hidden products, once a product at most, and hands its error on to the
/// steps after it; weights are below 1 and gates flatten what they are given.
inline double tolerance(const Layer& layer, int64_t steps) {
  return static_cast<double>(std::max<int64_t>(steps, 1) * (layer.features + layer.hidden)) *
         static_cast<double>(std::numeric_limits<float>::epsilon());
}

/// Relative to 1 where outputs are smaller: gates add up numbers of that size, and what is left where these
/// cancel has the error of what there was.
inline double state_error(const Tensor& actual, const Tensor& expected) {
  const std::vector<double> values = expected.to_double();
  double squares = 0;
  for (const double value : values) squares += std::isfinite(value) ? value * value : 0;
  const double size = std::sqrt(squares / static_cast<double>(std::max<size_t>(values.size(), 1)));
  return relative_error(actual, expected) * std::min(size, 1.0);
}

}  // namespace hone::test
