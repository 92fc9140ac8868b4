// Pools on planes small enough to check by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "reference/single_node.hpp"
#include "tensor/tensor.hpp"

namespace hone::reference {
namespace {

using graph::Node;
using tensor::Tensor;
using Ints = std::vector<int64_t>;

std::vector<float> floats(const Tensor& tensor) {
  return {tensor.values<float>().begin(), tensor.values<float>().end()};
}

TEST(MaxPool, ReportsIndicesInBothOrders) {
  const Tensor x = ramp({1, 2, 2, 3});
  for (const int64_t order : {0, 1}) {
    const auto y =
        run_single_node(node_of("MaxPool", {{"kernel_shape", Ints{2, 2}}, {"storage_order", order}}), {x}, 2);
    EXPECT_EQ(floats(y[0]), (std::vector<float>{4, 5, 10, 11}));
    EXPECT_EQ(y[1].to_int64(), order == 0 ? (Ints{4, 5, 10, 11}) : (Ints{3, 5, 9, 11}));
  }
}

TEST(MaxPool, PaddingNeverWins) {
  const auto y = run_single_node(
      node_of("MaxPool", {{"kernel_shape", Ints{3}}, {"pads", Ints{1, 1}}, {"strides", Ints{2}}}),
      {ramp({1, 1, 4}, -9)})[0];
  EXPECT_EQ(floats(y), (std::vector<float>{-8, -6}));
}

TEST(MaxPool, TakesBytes) {
  const Tensor x = Tensor::of<int8_t>({-5, -7, -6, -128}, {1, 1, 4});
  const auto y = run_single_node(node_of("MaxPool", {{"kernel_shape", Ints{2}}}), {x})[0];
  EXPECT_EQ(y.to_int64(), (Ints{-5, -6, -6}));
}

TEST(AveragePool, CountsPaddingOnlyWhenAsked) {
  const Tensor x = ramp({1, 1, 3}, 1);
  for (const int64_t include : {0, 1}) {
    const auto y = run_single_node(node_of("AveragePool", {{"kernel_shape", Ints{2}},
                                                           {"pads", Ints{1, 1}},
                                                           {"strides", Ints{2}},
                                                           {"count_include_pad", include}}),
                                   {x})[0];
    EXPECT_EQ(floats(y), include == 0 ? (std::vector<float>{1, 2.5}) : (std::vector<float>{0.5, 2.5}));
  }
}

TEST(AveragePool, CeilModeDoesNotCountBeyondThePadding) {
  const auto y = run_single_node(node_of("AveragePool", {{"kernel_shape", Ints{3}},
                                                         {"strides", Ints{2}},
                                                         {"ceil_mode", int64_t{1}},
                                                         {"count_include_pad", int64_t{1}}}),
                                 {ramp({1, 1, 4}, 1)})[0];
  EXPECT_EQ(floats(y), (std::vector<float>{2, 3.5}));
}

TEST(AveragePool, Dilates) {
  const auto y = run_single_node(node_of("AveragePool", {{"kernel_shape", Ints{2}}, {"dilations", Ints{3}}}),
                                 {ramp({1, 1, 5})})[0];
  EXPECT_EQ(floats(y), (std::vector<float>{1.5, 2.5}));
}

TEST(LpPool, IsANorm) {
  const Tensor x = Tensor::of<float>({3, -4, 0, 5}, {1, 1, 4});
  const auto y =
      run_single_node(node_of("LpPool", {{"kernel_shape", Ints{2}}, {"strides", Ints{2}}}), {x})[0];
  EXPECT_EQ(floats(y), (std::vector<float>{5, 5}));
}

TEST(GlobalPools, ReduceEveryPlane) {
  const Tensor x = Tensor::of<float>({3, -4, 0, 5, 1, 1, 1, 2}, {1, 2, 2, 2});
  EXPECT_EQ(floats(run_single_node(node_of("GlobalAveragePool"), {x})[0]), (std::vector<float>{1, 1.25}));
  EXPECT_EQ(floats(run_single_node(node_of("GlobalMaxPool"), {x})[0]), (std::vector<float>{5, 2}));
  EXPECT_EQ(floats(run_single_node(node_of("GlobalLpPool", {{"p", int64_t{1}}}), {x})[0]),
            (std::vector<float>{12, 5}));
  EXPECT_EQ(refusal(node_of("GlobalMaxPool"), {Tensor(tensor::DType::kFloat32, {1, 2, 0})}),
            "input 0 has no elements along axis 2");
}

/// ReduceMean over all spatial axes, which a pass makes of it, gives the same.
TEST(GlobalPools, AverageOfNothingIsNan) {
  for (const tensor::Shape& shape : {tensor::Shape{1, 2, 0}, tensor::Shape{1, 2, 3, 0}}) {
    const Tensor y =
        run_single_node(node_of("GlobalAveragePool"), {Tensor(tensor::DType::kFloat32, shape)})[0];
    for (const float average : floats(y)) EXPECT_TRUE(std::isnan(average));
    EXPECT_EQ(y.size(), 2);
  }
}

TEST(MaxUnpool, PutsMaximaBack) {
  const Tensor x = ramp({1, 1, 4, 4});
  const std::vector<std::pair<std::string, graph::Attribute>> attributes{{"kernel_shape", Ints{2, 2}},
                                                                         {"strides", Ints{2, 2}}};
  const auto pooled = run_single_node(node_of("MaxPool", attributes), {x}, 2);
  const auto y = run_single_node(node_of("MaxUnpool", attributes), {pooled[0], pooled[1]})[0];
  EXPECT_EQ(floats(y), (std::vector<float>{0, 0, 0, 0, 0, 5, 0, 7, 0, 0, 0, 0, 0, 13, 0, 15}));
  const Tensor outside = Tensor::of<int64_t>({0, 1, 2, 16}, {1, 1, 2, 2});
  EXPECT_EQ(refusal(node_of("MaxUnpool", attributes), {pooled[0], outside}),
            "input 1 holds 16, outside [0, 16)");
}

TEST(Pools, RefuseBadWindows) {
  const Tensor x = ramp({1, 1, 4, 4});
  EXPECT_EQ(refusal(node_of("MaxPool", {{"kernel_shape", Ints{2}}}), {x}),
            "attribute 'kernel_shape' has 1 entries, expected 2");
  EXPECT_EQ(refusal(node_of("AveragePool", {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{1, 0}}}), {x}),
            "attribute 'strides' holds 0, expected at least 1");
  EXPECT_EQ(refusal(node_of("LpPool", {{"kernel_shape", Ints{2, 2}}, {"p", int64_t{0}}}), {x}),
            "attribute 'p' is 0, expected at least 1");
}

}  // namespace
}  // namespace hone::reference
