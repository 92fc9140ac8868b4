// Graphs in which every step says its type.
#include "backend/tensorrt/typed_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "reference/interpreter.hpp"
#include "support/graph_builder.hpp"

namespace hone::backend::tensorrt {
namespace {

using graph::DType;
using tensor::Precision;
using test::GraphBuilder;
using test::Tensor;

DType output_type_of(const graph::Graph& graph, std::string_view op) {
  for (const graph::Node& node : graph.nodes) {
    if (node.op == op) return graph.value(node.outputs[0]).type.dtype;
  }
  return DType::kUndefined;
}

graph::Graph network() {
  GraphBuilder builder;
  const auto x = builder.input("x", {2, 3, 8, 8});
  const auto conv =
      builder.node("Conv", {x, builder.random({4, 3, 3, 3})}, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  const auto power = builder.node("Pow", {builder.node("Relu", {conv}), builder.scalar(2)});
  return builder.finish({builder.node("Mul", {power, builder.scalar(0.5)}), conv});
}

TEST(TypedGraph, ComputesInTheTypeBetweenInputsAndOutputsOfTheModel) {
  for (const auto& [precision, type] :
       {std::pair{Precision::kFp16, DType::kFloat16}, {Precision::kBf16, DType::kBFloat16}}) {
    const graph::Graph original = network();
    const graph::Graph graph = typed(original, precision);
    graph::verify(graph, "typing");
    EXPECT_EQ(output_type_of(graph, "Conv"), type);
    EXPECT_EQ(output_type_of(graph, "Relu"), type);
    // A square leaves the range of float16 soon.
    EXPECT_EQ(output_type_of(graph, "Pow"), DType::kFloat32);
    for (size_t i = 0; i < original.outputs.size(); ++i) {
      EXPECT_EQ(graph.value(graph.outputs[i]).type.dtype, DType::kFloat32);
      EXPECT_EQ(graph.value(graph.outputs[i]).name, original.value(original.outputs[i]).name);
    }
  }
}

TEST(TypedGraph, ComputesTheSameToTheRoundingOfTheType) {
  const graph::Graph original = network();
  const std::vector<Tensor> inputs = {test::random_tensor({2, 3, 8, 8}, 7)};
  const auto right = reference::run_graph(original, inputs);
  const auto found = reference::run_graph(typed(original, Precision::kFp16), inputs);
  for (size_t output = 0; output < right.size(); ++output) {
    const auto a = right[output].to_double();
    const auto b = found[output].to_double();
    // 27 products of numbers up to 1, each rounded to 11 bits, and squared.
    for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 27 * 0x1p-11 * (1 + std::abs(a[i])));
  }
}

TEST(TypedGraph, LeavesIntegersAndScalesOfResizeAlone) {
  GraphBuilder builder;
  const auto x = builder.input("x", {1, 2, 4, 4});
  const auto index = builder.input("index", {3}, DType::kInt64);
  const auto scales = builder.constant(Tensor::of<float>({1, 1, 2, 2}, {4}));
  const auto large = builder.node("Resize", {x, graph::kNoValue, scales}, {{"mode", std::string("nearest")}});
  const auto rows = builder.node("Gather", {builder.random({5, 2}), index});
  const graph::Graph graph = typed(builder.finish({large, rows}), Precision::kFp16);
  graph::verify(graph, "typing");
  for (const graph::Node& node : graph.nodes) {
    if (node.op == "Resize") {
      EXPECT_EQ(graph.value(node.inputs[2]).type.dtype, DType::kFloat32);
    }
    if (node.op == "Gather") {
      EXPECT_EQ(graph.value(node.inputs[1]).type.dtype, DType::kInt64);
    }
  }
  EXPECT_EQ(output_type_of(graph, "Gather"), DType::kFloat16);
}

TEST(TypedGraph, TakesConstantsBeyondTheRangeAsTheLargestNumber) {
  GraphBuilder builder;
  const auto x = builder.input("x", {2});
  const graph::Graph graph =
      typed(builder.finish({builder.node("Add", {x, builder.scalar(-3.4e38F)})}), Precision::kFp16);
  const std::vector<Tensor> inputs = {Tensor::of<float>({0, 1}, {2})};
  EXPECT_EQ(reference::run_graph(graph, inputs)[0].to_double()[0], -65504);
}

TEST(TypedGraph, IsTheGraphItselfInFloat32) {
  const graph::Graph original = network();
  EXPECT_EQ(typed(original, Precision::kFp32).nodes.size(), original.nodes.size());
  EXPECT_EQ(typed(original, Precision::kTf32).nodes.size(), original.nodes.size());
}

TEST(TypedGraph, ConstantsStayInTheRangeOfABuilderThatChoosesFloat16) {
  constexpr float kLowest = std::numeric_limits<float>::lowest();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  GraphBuilder builder;
  const auto x = builder.input("x", {2});
  const auto mask =
      builder.node("Mul", {builder.node("Sub", {builder.scalar(1), x}), builder.scalar(kLowest)});
  const auto sum = builder.node("Add", {mask, builder.scalar(65504)});
  const graph::Graph original = builder.finish({builder.node("Max", {sum, builder.scalar(-kInfinity)})});
  const auto scalars = [](const graph::Graph& graph) {
    std::vector<float> found;
    for (const auto& value : graph.values) {
      if (value.constant && value.type.dtype == DType::kFloat32)
        found.push_back(value.constant->values<float>()[0]);
    }
    return found;
  };
  // 65504 is the largest number of float16, and an infinity is one there as well.
  EXPECT_EQ(scalars(within_range(original, Precision::kFp16)),
            (std::vector<float>{1, -65504, 65504, -kInfinity}));
  EXPECT_EQ(scalars(within_range(original, Precision::kTf32)),
            (std::vector<float>{1, kLowest, 65504, -kInfinity}));
  EXPECT_EQ(scalars(original)[1], kLowest);
}

}  // namespace
}  // namespace hone::backend::tensorrt
