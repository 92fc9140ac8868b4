// Checks that a transformed graph computes what the original computes, on seeded random inputs.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graph/region.hpp"
#include "reference/interpreter.hpp"
#include "support/graph_builder.hpp"

namespace hone::test {

/// Random inputs for a graph; every symbol and unknown dimension gets `symbol_size`.
inline std::vector<Tensor> random_inputs(const Graph& graph, uint32_t seed, int64_t symbol_size) {
  std::vector<Tensor> inputs;
  for (const ValueId id : graph.inputs) {
    Shape shape;
    for (const Dim& dim : *graph.value(id).type.dims)
      shape.push_back(dim.known() ? dim.value() : symbol_size);
    inputs.push_back(random_tensor(shape, ++seed, -2, 2).cast(graph.value(id).type.dtype));
  }
  return inputs;
}

/// |actual - expected| over |expected| in the Euclidean norm; infinite where one is not finite and the other
/// is, or the shapes differ.
inline double relative_error(const Tensor& actual, const Tensor& expected) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (actual.dtype() != expected.dtype() || actual.shape() != expected.shape()) return kInfinite;
  const auto a = actual.to_double();
  const auto e = expected.to_double();
  double difference = 0;
  double norm = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) != std::isnan(e[i])) return kInfinite;
    if (std::isnan(a[i]) || a[i] == e[i]) continue;
    difference += (a[i] - e[i]) * (a[i] - e[i]);
  }
  for (const double element : e) norm += std::isfinite(element) ? element * element : 0;
  return difference == 0 ? 0 : std::sqrt(difference) / std::sqrt(norm);
}

/// Rewrites change the order of roundings only. Each node rounds its result and, where weights were
/// folded, its constants: a few units in the last place a node, 16 at most, which add up along the graph.
inline double rounding_tolerance(const Graph& graph) {
  return 16.0 * static_cast<double>(graph.nodes.size() + 1) * std::numeric_limits<float>::epsilon();
}

inline void expect_equivalent(const Graph& original, const Graph& transformed, uint32_t seed = 1) {
  ASSERT_EQ(original.inputs.size(), transformed.inputs.size());
  ASSERT_EQ(original.outputs.size(), transformed.outputs.size());
  for (size_t i = 0; i < original.outputs.size(); ++i) {
    EXPECT_EQ(original.value(original.outputs[i]).name, transformed.value(transformed.outputs[i]).name);
  }
  for (const int64_t symbol_size : {1, 3}) {
    const auto inputs = random_inputs(original, seed, symbol_size);
    const auto expected = reference::run_graph(original, inputs);
    const auto actual = reference::run_graph(transformed, inputs);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_LE(relative_error(actual[i], expected[i]), rounding_tolerance(original))
          << "output " << i << ", symbols of size " << symbol_size;
    }
  }
}

/// The operators in order, post-ops in brackets: "Conv FusedConv[relu,add] MaxPool".
inline std::string structure(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes) {
    text += (text.empty() ? "" : " ") + graph::kind_of(node);
    if (!node.attributes.has("post_ops")) continue;
    std::string list;
    for (const std::string& op : node.attributes.get<std::vector<std::string>>("post_ops")) {
      list += (list.empty() ? "" : ",") + op;
    }
    text += "[" + list + "]";
  }
  return text;
}

/// The structure with the bodies of regions: "conv_max_pool(FusedConv[relu] MaxPool) Relu".
inline std::string structure_with_bodies(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes) {
    Graph one;
    one.nodes = {node};
    text += (text.empty() ? "" : " ") + structure(one);
    if (graph::is_region(node)) text += "(" + structure_with_bodies(graph::region_body(node)) + ")";
  }
  return text;
}

}  // namespace hone::test
