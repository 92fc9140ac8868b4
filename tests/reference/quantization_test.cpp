// Quantized tensors: granularities, saturation, and integer products against sums written out.
#include <gtest/gtest.h>

#include "reference/single_node.hpp"
#include "tensor/tensor.hpp"

namespace hone::reference {
namespace {

using graph::Node;
using tensor::DType;
using tensor::Tensor;
using Ints = std::vector<int64_t>;

TEST(QuantizeLinear, RoundsHalvesToEvenAndSaturates) {
  const Tensor x = Tensor::of<float>({-1e9f, -0.75f, 0.25f, 0.75f, 1.25f, 1e9f}, {6});
  const Tensor scale = Tensor::scalar(0.5f);
  EXPECT_EQ(run_single_node(node_of("QuantizeLinear"), {x, scale, Tensor::scalar<int8_t>(1)})[0].to_int64(),
            (Ints{-128, -1, 1, 3, 3, 127}));
  EXPECT_EQ(run_single_node(node_of("QuantizeLinear"), {x, scale})[0].to_int64(), (Ints{0, 0, 0, 2, 2, 255}));
  const auto wide = run_single_node(
      node_of("QuantizeLinear", {{"output_dtype", static_cast<int64_t>(DType::kInt16)}}), {x, scale})[0];
  EXPECT_EQ(wide.dtype(), DType::kInt16);
  EXPECT_EQ(wide.to_int64(), (Ints{-32768, -2, 0, 2, 2, 32767}));
}

TEST(DequantizeLinear, SpreadsScalesOverAxesAndBlocks) {
  const Tensor x = Tensor::of<int8_t>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {2, 5});
  const auto floats = [](const Tensor& t) { return t.to_double(); };
  EXPECT_EQ(floats(run_single_node(node_of("DequantizeLinear", {{"axis", int64_t{-2}}}),
                                   {x, Tensor::of<float>({1, 10}, {2}), Tensor::of<int8_t>({0, 5}, {2})})[0]),
            (std::vector<double>{1, 2, 3, 4, 5, 10, 20, 30, 40, 50}));
  // Blocks of 2 along an axis of 5: the last one is short.
  EXPECT_EQ(
      floats(run_single_node(node_of("DequantizeLinear", {{"axis", int64_t{1}}, {"block_size", int64_t{2}}}),
                             {x, Tensor::of<float>({1, 10, 100, 2, 20, 200}, {2, 3})})[0]),
      (std::vector<double>{1, 2, 30, 40, 500, 12, 14, 160, 180, 2000}));
  EXPECT_EQ(
      floats(run_single_node(node_of("DequantizeLinear", {{"axis", int64_t{0}}, {"block_size", int64_t{2}}}),
                             {x, Tensor::of<float>({1, 2, 3, 4, 5}, {1, 5})})[0]),
      (std::vector<double>{1, 4, 9, 16, 25, 6, 14, 24, 36, 50}));
}

TEST(DequantizeLinear, RefusesScalesThatDoNotFit) {
  const Tensor x = Tensor::of<int8_t>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Node node = node_of("DequantizeLinear");
  EXPECT_EQ(refusal(node, {x, ramp({2})}), "input 1 has shape 2, expected one scale, or 3 for axis 1");
  EXPECT_EQ(refusal(node, {x, ramp({3}), Tensor::of<int8_t>({0}, {1})}),
            "inputs 1 and 2 have shapes 3 and 1");
  EXPECT_EQ(refusal(node_of("DequantizeLinear", {{"axis", int64_t{2}}}), {x, ramp({3})}),
            "attribute 'axis' 2 is outside rank 2");
  EXPECT_EQ(refusal(node_of("DequantizeLinear", {{"block_size", int64_t{2}}}), {x, ramp({2, 3})}),
            "input 1 has shape 2x3, expected 2x2 for blocks of 2");
}

TEST(DynamicQuantizeLinear, GivesZerosAScale) {
  const auto y = run_single_node(node_of("DynamicQuantizeLinear"), {Tensor::of<float>({0, 0}, {2})}, 3);
  EXPECT_EQ(y[0].to_int64(), (Ints{0, 0}));
  EXPECT_EQ(y[1].values<float>()[0], 1.0f);
  EXPECT_EQ(y[2].to_int64(), (Ints{0}));
}

TEST(ConvInteger, TakesZeroPointsPerChannel) {
  const Tensor x = Tensor::of<uint8_t>({3, 4, 5}, {1, 1, 3});
  const Tensor w = Tensor::of<int8_t>({1, 2, 3, 4}, {2, 1, 2});
  const auto y = run_single_node(node_of("ConvInteger"),
                                 {x, w, Tensor::scalar<uint8_t>(3), Tensor::of<int8_t>({1, 2}, {2})})[0];
  // x - 3 = 0 1 2; w - zero = (0 1), (1 2)
  EXPECT_EQ(y.to_int64(), (Ints{1, 2, 2, 5}));
}

TEST(QLinearConv, ScalesPerChannelAndAddsTheBias) {
  const Tensor x = Tensor::of<int8_t>({1, 2, 3}, {1, 1, 3});
  const Tensor w = Tensor::of<int8_t>({1, 10}, {2, 1, 1});
  const auto y = run_single_node(
      node_of("QLinearConv"),
      {x, Tensor::scalar(0.5f), Tensor::scalar<int8_t>(0), w, Tensor::of<float>({1, 0.1f}, {2}),
       Tensor::of<int8_t>({0, 0}, {2}), Tensor::scalar(0.25f), Tensor::scalar<int8_t>(-1),
       Tensor::of<int32_t>({1, -10}, {2})})[0];
  EXPECT_EQ(y.to_int64(), (Ints{3, 5, 7, -1, 1, 3}));
}

TEST(QLinearMatMul, ScalesPerRowAndPerColumn) {
  const Tensor a = Tensor::of<int8_t>({1, 2, 3, 4}, {2, 2});
  const Tensor b = Tensor::of<int8_t>({1, 0, 0, 1}, {2, 2});
  const Tensor zero = Tensor::scalar<int8_t>(0);
  const auto y = run_single_node(node_of("QLinearMatMul"),
                                 {a, Tensor::of<float>({1, 2}, {2}), Tensor::of<int8_t>({0, 1}, {2}), b,
                                  Tensor::of<float>({1, 3}, {1, 2}), zero, Tensor::scalar(1.0f), zero})[0];
  EXPECT_EQ(y.to_int64(), (Ints{1, 6, 4, 18}));
  EXPECT_NE(refusal(node_of("QLinearMatMul"), {a, ramp({2}), zero, b, Tensor::of<float>({1, 3}, {2, 1}), zero,
                                               Tensor::scalar(1.0f), zero}),
            "");
}

TEST(MatMulInteger, BroadcastsStacksAndPromotesVectors) {
  const Tensor a = Tensor::of<uint8_t>({1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2});
  const Tensor v = Tensor::of<uint8_t>({10, 1}, {2});
  EXPECT_EQ(run_single_node(node_of("MatMulInteger"), {a, v})[0].to_int64(), (Ints{12, 34, 56, 78}));
  const auto rows = run_single_node(node_of("MatMulInteger"), {v, a})[0];
  EXPECT_EQ(rows.shape(), (tensor::Shape{2, 2}));
  EXPECT_EQ(rows.to_int64(), (Ints{13, 24, 57, 68}));
  EXPECT_EQ(refusal(node_of("MatMulInteger"), {a, Tensor::of<uint8_t>({1, 2, 3}, {3})}),
            "shapes 2x2x2 and 3 do not multiply: 2 columns meet 3 rows");
}

}  // namespace
}  // namespace hone::reference
