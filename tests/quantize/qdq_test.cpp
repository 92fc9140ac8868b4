// The written graph: its integers, its scales, and that it computes what fake quantization would.
#include "quantize/qdq.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "quantize/weights.hpp"
#include "reference/interpreter.hpp"
#include "support/graph_builder.hpp"

namespace hone::quantize {
namespace {

using graph::Graph;
using graph::Node;
using test::GraphBuilder;
using test::Tensor;
using test::ValueId;

const Node& node_of(const Graph& graph, const std::string& op) {
  for (const Node& node : graph.nodes) {
    if (node.op == op) return node;
  }
  throw Error(ErrorKind::kInternal, "no " + op);
}

/// The DequantizeLinear that makes input i of a node.
const Node& maker_of(const Graph& graph, const Node& node, size_t i) {
  return graph.nodes[static_cast<size_t>(graph::Links(graph).producer_of(node.inputs[i]))];
}

std::vector<ActivationScale> scales(const Placement& placement, float scale,
                                    IntegerForm form = IntegerForm::kSymmetric) {
  return std::vector<ActivationScale>(placement.values.size(), {{scale, 0}, form});
}

TEST(Weights, HaveOneScaleForEachOutputChannel) {
  const Tensor weights = Tensor::of<float>({127, -63.4f, 0.5f, 0.254f, 0, 0}, {3, 2});
  const QuantizedWeights quantized = quantize_weights(weights, 0);
  EXPECT_EQ(quantized.scales[0], 1);
  EXPECT_FLOAT_EQ(quantized.scales[1], 0.5f / 127);
  // A channel of zeros has the least scale of the others.
  EXPECT_EQ(quantized.scales[2], quantized.scales[1]);
  const auto integers = quantized.integers.values<int8_t>();
  EXPECT_EQ(std::vector<int>(integers.begin(), integers.end()), (std::vector<int>{127, -63, 127, 65, 0, 0}));
  const QuantizedWeights columns = quantize_weights(weights, 1);
  EXPECT_EQ(columns.scales.size(), 2u);
  EXPECT_EQ(columns.scales[0], 1);
}

TEST(Weights, OfNothingButZerosHaveScaleOne) {
  const QuantizedWeights quantized = quantize_weights(Tensor::of<float>({0, 0}, {2, 1}), 0);
  EXPECT_EQ(quantized.scales, (std::vector<float>{1, 1}));
  const QuantizedWeights tiny = quantize_weights(Tensor::of<float>({1e-44f, -1e-44f}, {1, 2}), 0);
  EXPECT_TRUE(std::isnormal(tiny.scales[0]));
}

TEST(Weights, ShiftIsWhatRoundingAddsToTheMean) {
  const Tensor weights = test::random_tensor({6, 2, 3, 3}, 1);
  const QuantizedWeights quantized = quantize_weights(weights, 0);
  // Two groups of three outputs, each of which reads two of four inputs.
  const std::vector<double> means = {1, -2, 3, 0.5};
  const std::vector<double> shift = rounding_shift(weights, quantized, 0, 1, means);
  for (size_t o = 0; o < 6; ++o) {
    double expected = 0;
    for (size_t i = 0; i < 2; ++i) {
      for (size_t k = 0; k < 9; ++k) {
        const size_t at = (o * 2 + i) * 9 + k;
        const double rounded = static_cast<double>(quantized.integers.values<int8_t>()[at]) *
                               static_cast<double>(quantized.scales[o]);
        expected += (rounded - static_cast<double>(weights.values<float>()[at])) * means[o / 3 * 2 + i];
      }
    }
    EXPECT_NEAR(shift[o], expected, 1e-12);
  }
}

TEST(Qdq, WritesIntegersAndTheirScales) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 2, 4, 4});
  const ValueId c =
      b.node("Conv", {x, b.random({3, 2, 1, 1}), b.constant(Tensor::of<float>({0.1f, -20, 0}, {3}))});
  const Graph graph = b.finish({c});
  const Placement placement = place(graph);
  const Graph written = with_qdq(graph, placement, scales(placement, 0.05f), {});
  const Node& conv = node_of(written, "Conv");
  EXPECT_EQ(maker_of(written, conv, 0).op, "DequantizeLinear");
  const Node& weights = maker_of(written, conv, 1);
  EXPECT_EQ(weights.op, "DequantizeLinear");
  EXPECT_EQ(weights.attributes.get_int("axis"), 0);
  EXPECT_EQ(written.constant(weights.inputs[0])->dtype(), tensor::DType::kInt8);
  EXPECT_EQ(written.constant(weights.inputs[2])->to_int64(), (std::vector<int64_t>{0, 0, 0}));
  const Node& bias = maker_of(written, conv, 2);
  EXPECT_EQ(bias.inputs.size(), 2u);
  const auto weight_scales = written.constant(weights.inputs[1])->values<float>();
  const auto bias_scales = written.constant(bias.inputs[1])->values<float>();
  const auto integers = written.constant(bias.inputs[0])->values<int32_t>();
  const std::vector<double> expected = {0.1, -20, 0};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_FLOAT_EQ(bias_scales[i], 0.05f * weight_scales[i]);
    EXPECT_EQ(integers[i],
              static_cast<int32_t>(std::nearbyint(expected[i] / static_cast<double>(bias_scales[i]))));
  }
  EXPECT_EQ(written.outputs, graph.outputs);
}

TEST(Qdq, LeavesValuesAloneThatNobodyReadsAsIntegers) {
  GraphBuilder b;
  const Graph graph = b.finish({b.conv(b.conv(b.input("x", {1, 3, 4, 4}), 3, 16), 16, 3)});
  const Placement placement = restricted(graph, place(graph), rules_of(Target::kCuda));
  ASSERT_EQ(placement.values.size(), 2u);
  const Graph written = with_qdq(graph, placement, scales(placement, 0.05f), {});
  const auto quantizations =
      std::ranges::count_if(written.nodes, [](const Node& node) { return node.op == "QuantizeLinear"; });
  EXPECT_EQ(quantizations, 1);
}

TEST(Qdq, ComputesWhatFakeQuantizationDoes) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 2, 4, 4});
  const ValueId weights = b.random({3, 2, 3, 3});
  const Graph graph = b.finish({b.node("Conv", {x, weights})});
  const Placement placement = place(graph);
  const Scale scale{0.01f, 0};
  const Graph written = with_qdq(graph, placement, scales(placement, scale.scale), {});
  const Tensor input = test::random_tensor({1, 2, 4, 4}, 9, -2, 2);
  const Tensor actual = reference::run_graph(written, std::vector<Tensor>{input})[0];

  Graph fake = graph;
  Tensor rounded(tensor::DType::kFloat32, input.shape());
  for (size_t i = 0; i < 32; ++i)
    rounded.mutable_values<float>()[i] =
        fake_quantized(input.values<float>()[i], scale, IntegerForm::kSymmetric);
  const QuantizedWeights quantized = quantize_weights(*graph.constant(weights), 0);
  Tensor dequantized(tensor::DType::kFloat32, quantized.integers.shape());
  for (size_t i = 0; i < 54; ++i)
    dequantized.mutable_values<float>()[i] =
        static_cast<float>(quantized.integers.values<int8_t>()[i]) * quantized.scales[i / 18];
  fake.value(weights).constant = dequantized;
  const Tensor expected = reference::run_graph(fake, std::vector<Tensor>{rounded})[0];
  EXPECT_EQ(actual.to_double(), expected.to_double());
}

TEST(Qdq, LiftsScalesWhoseBiasWouldOverflow) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 2, 4, 4});
  const ValueId c =
      b.node("Conv", {x, b.filled({2, 2, 1, 1}, 1e-6f), b.constant(Tensor::of<float>({1000, 0}, {2}))});
  const Graph graph = b.finish({c});
  const Placement placement = place(graph);
  const Graph written = with_qdq(graph, placement, scales(placement, 1e-4f), {});
  const Node& bias = maker_of(written, node_of(written, "Conv"), 2);
  const double unit = static_cast<double>(written.constant(bias.inputs[1])->values<float>()[0]);
  const auto integer = written.constant(bias.inputs[0])->values<int32_t>()[0];
  EXPECT_NEAR(unit * integer, 1000, 1e-3);
  EXPECT_LE(std::abs(integer), 1 << 30);
}

TEST(Qdq, CorrectsTheBiasByTheMean) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 2, 4, 4});
  const ValueId weights = b.random({3, 2, 1, 1});
  const Graph graph = b.finish({b.node("Conv", {x, weights})});
  const Placement placement = place(graph);
  const ChannelMeans means = {{x, {4, 2}}};
  const Graph written = with_qdq(graph, placement, scales(placement, 1.0f / 16), {false, &means});
  // Both channels are at their means, which the scale represents: rounding of weights is all that is left.
  std::vector<float> values(16, 4);
  values.resize(32, 2);
  const Tensor input = Tensor::of<float>(values, {1, 2, 4, 4});
  const auto actual = reference::run_graph(written, std::vector<Tensor>{input})[0].to_double();
  const auto expected = reference::run_graph(graph, std::vector<Tensor>{input})[0].to_double();
  // Float32 sums of three numbers below 8.
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 8 * 0x1p-22) << i;
  const Graph plain = with_qdq(graph, placement, scales(placement, 1.0f / 16), {false, nullptr});
  const auto shifted = reference::run_graph(plain, std::vector<Tensor>{input})[0].to_double();
  EXPECT_GT(std::abs(shifted[0] - expected[0]) + std::abs(shifted[16] - expected[16]), 1e-4);
}

TEST(Qdq, RefusesMeansOfOtherChannels) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 2, 4, 4});
  const Graph graph = b.finish({b.conv(x, 2, 3)});
  const Placement placement = place(graph);
  const ChannelMeans means = {{x, {4, 2, 7}}};
  EXPECT_THROW(with_qdq(graph, placement, scales(placement, 1), {true, &means}), Error);
}

TEST(Qdq, QuantizesTransposedConvolutionsOfGroups) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 4, 3, 3});
  const ValueId c = b.node("ConvTranspose", {x, b.random({4, 2, 2, 2}), b.random({4})},
                           {{"group", int64_t{2}}, {"strides", std::vector<int64_t>{2, 2}}});
  const Graph graph = b.finish({c});
  const Placement placement = place(graph);
  const Graph written = with_qdq(graph, placement, scales(placement, 0.01f), {});
  const Node& weights = maker_of(written, node_of(written, "ConvTranspose"), 1);
  EXPECT_EQ(weights.attributes.get_int("axis"), 1);
  EXPECT_EQ(written.constant(weights.inputs[1])->size(), 2);
  const Tensor input = test::random_tensor({1, 4, 3, 3}, 2);
  const auto actual = reference::run_graph(written, std::vector<Tensor>{input})[0].to_double();
  const auto expected = reference::run_graph(graph, std::vector<Tensor>{input})[0].to_double();
  // Two inputs of a group reach each output: half a step of data and of weights each, and of the bias.
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 0.03) << i;
}

TEST(Qdq, TargetsHaveTheirOwnIntegers) {
  EXPECT_EQ(form_for(Target::kPortable, 0), IntegerForm::kSymmetric);
  EXPECT_EQ(form_for(Target::kCpu, 0), IntegerForm::kUnsigned);
  EXPECT_EQ(form_for(Target::kCpu, -1), IntegerForm::kAsymmetric);
  EXPECT_EQ(form_for(Target::kCuda, 0), IntegerForm::kUnsigned);
  EXPECT_EQ(form_for(Target::kCuda, -1), IntegerForm::kSymmetric);
  EXPECT_EQ(form_for(Target::kTensorrt, 0), IntegerForm::kSymmetric);
  EXPECT_FALSE(has_integer_bias(Target::kTensorrt));
  EXPECT_TRUE(has_integer_bias(Target::kPortable));
  EXPECT_EQ(parse_target("cuda"), Target::kCuda);
  EXPECT_THROW(parse_target("gpu"), Error);
}

}  // namespace
}  // namespace hone::quantize
