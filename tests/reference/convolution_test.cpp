// Conv, ConvTranspose and their shape rule against a direct sum over every tap.
#include <gtest/gtest.h>

#include "reference/single_node.hpp"
#include "tensor/tensor.hpp"

namespace hone::reference {
namespace {

using graph::Dim;
using graph::Node;
using tensor::DType;
using tensor::Tensor;
using Ints = std::vector<int64_t>;

/// One output element of a two-dimensional convolution, by its definition.
double conv_element(const Tensor& x, const Tensor& w, Ints at, const Ints& strides, const Ints& dilations,
                    const Ints& pads, int64_t group) {
  const auto xs = x.values<float>();
  const auto ws = w.values<float>();
  const auto& xd = x.shape();
  const auto& wd = w.shape();
  const int64_t first = at[1] / (wd[0] / group) * wd[1];
  double sum = 0;
  for (int64_t c = 0; c < wd[1]; ++c) {
    for (int64_t i = 0; i < wd[2]; ++i) {
      for (int64_t j = 0; j < wd[3]; ++j) {
        const int64_t h = at[2] * strides[0] + i * dilations[0] - pads[0];
        const int64_t v = at[3] * strides[1] + j * dilations[1] - pads[1];
        if (h < 0 || h >= xd[2] || v < 0 || v >= xd[3]) continue;
        const auto xi = ((at[0] * xd[1] + first + c) * xd[2] + h) * xd[3] + v;
        const auto wi = ((at[1] * wd[1] + c) * wd[2] + i) * wd[3] + j;
        sum += static_cast<double>(xs[static_cast<size_t>(xi)]) * ws[static_cast<size_t>(wi)];
      }
    }
  }
  return sum;
}

TEST(Conv, IsTheSumOverItsTaps) {
  const Tensor x = ramp({2, 12, 7, 6}, -3, 0.01f);
  const Tensor w = ramp({6, 6, 3, 2}, 1, -0.015f);
  const Tensor b = ramp({6});
  const Ints strides{2, 1};
  const Ints dilations{1, 2};
  const Ints pads{1, 2, 0, 1};
  const auto y = run_single_node(
      node_of("Conv",
              {{"strides", strides}, {"dilations", dilations}, {"pads", pads}, {"group", int64_t{2}}}),
      {x, w, b})[0];
  ASSERT_EQ(y.shape(), (Ints{2, 6, 3, 7}));
  size_t flat = 0;
  for (int64_t n = 0; n < 2; ++n) {
    for (int64_t m = 0; m < 6; ++m) {
      for (int64_t i = 0; i < 3; ++i) {
        for (int64_t j = 0; j < 7; ++j, ++flat) {
          const double expected = conv_element(x, w, {n, m, i, j}, strides, dilations, pads, 2) + double(m);
          EXPECT_FLOAT_EQ(y.values<float>()[flat], static_cast<float>(expected));
        }
      }
    }
  }
}

TEST(Conv, OneAndThreeAxesAgreeWithTwo) {
  const Tensor x = ramp({1, 3, 5, 4}, -1, 0.1f);
  const Tensor w = ramp({2, 3, 1, 3}, 1, 0.2f);
  const auto two = run_single_node(node_of("Conv", {{"pads", Ints{0, 1, 0, 1}}}), {x, w})[0];
  const auto three = run_single_node(node_of("Conv", {{"pads", Ints{0, 0, 1, 0, 0, 1}}}),
                                     {x.reshaped({1, 3, 5, 1, 4}), w.reshaped({2, 3, 1, 1, 3})})[0];
  EXPECT_EQ(three.shape(), (Ints{1, 2, 5, 1, 4}));
  for (size_t i = 0; i < 40; ++i) EXPECT_EQ(three.values<float>()[i], two.values<float>()[i]);
  // A pointwise convolution over two axes is one over a single long axis.
  const Tensor p = ramp({2, 3, 1, 1});
  const auto plane = run_single_node(node_of("Conv"), {x, p})[0];
  const auto line = run_single_node(node_of("Conv"), {x.reshaped({1, 3, 20}), p.reshaped({2, 3, 1})})[0];
  for (size_t i = 0; i < 40; ++i) EXPECT_EQ(line.values<float>()[i], plane.values<float>()[i]);
}

TEST(Conv, SymbolicSizesStay) {
  graph::Graph graph;
  Node node = node_of("Conv", {{"pads", Ints{1, 1, 1, 1}}});
  node.inputs = {
      graph.add_value("x", {DType::kFloat32, graph::Dims{Dim::symbol("batch"), 3, Dim::symbol("h"), 8}}),
      graph.add_value("w", {DType::kFloat32, graph::Dims{16, 3, 3, 3}})};
  node.outputs = {graph.add_value("y")};
  graph.inputs = node.inputs;
  graph::complete_node(node);
  graph.add_node(node);
  graph::infer_types(graph);
  EXPECT_EQ(graph.value(node.outputs[0]).type.text(), "float32[batchx16xhx8]");
}

TEST(Conv, CountsTwoOperationsPerMultiplyAdd) {
  const auto graph = single_node_graph(node_of("Conv", {{"group", int64_t{2}}}),
                                       {ramp({2, 4, 7, 6}), ramp({6, 2, 3, 2}), ramp({6})});
  const double outputs = 2 * 6 * 5 * 5;
  EXPECT_EQ(graph::node_cost(graph, graph.nodes[0])->flops, outputs * (2 * 2 * 3 * 2 + 1));
}

TEST(Conv, RefusesWhatDoesNotFit) {
  const Tensor x = ramp({1, 4, 8, 8});
  const Tensor w = ramp({6, 2, 3, 3});
  EXPECT_EQ(refusal(node_of("Conv"), {x, w}), "input 0 has 4 channels, but input 1 takes 2 in 1 groups");
  EXPECT_EQ(refusal(node_of("Conv", {{"group", int64_t{0}}}), {x, w}),
            "attribute 'group' is 0, expected at least 1");
  EXPECT_EQ(refusal(node_of("Conv", {{"group", int64_t{4}}}), {x, ramp({6, 1, 3, 3})}),
            "6 output channels do not divide into 4 groups");
  EXPECT_EQ(refusal(node_of("Conv", {{"group", int64_t{2}}, {"kernel_shape", Ints{3, 5}}}), {x, w}),
            "attribute 'kernel_shape' holds 5 where input 1 has 3");
  EXPECT_EQ(refusal(node_of("Conv", {{"group", int64_t{2}}, {"dilations", Ints{1, 1, 1}}}), {x, w}),
            "attribute 'dilations' has 3 entries, expected 2");
  EXPECT_EQ(refusal(node_of("Conv", {{"group", int64_t{2}}}), {x, w, ramp({5})}),
            "input 2 has 5 elements, expected 6");
  EXPECT_EQ(refusal(node_of("Conv"), {x, ramp({6, 2, 3})}), "input 1 has rank 3, expected 4");
}

TEST(ConvTranspose, IsTheAdjointOfConv) {
  // <conv(x), y> = <x, conv_transpose(y)> for every x and y.
  const Ints strides{2, 1};
  const Ints pads{1, 0, 0, 1};
  const std::vector<std::pair<std::string, graph::Attribute>> attributes{
      {"strides", strides}, {"pads", pads}, {"group", int64_t{2}}};
  const Tensor x = ramp({2, 4, 9, 5}, -1, 0.01f);
  const Tensor w = ramp({6, 2, 3, 2}, 1, -0.02f);
  const auto forward = run_single_node(node_of("Conv", attributes), {x, w})[0];
  const Tensor y = ramp(forward.shape(), 2, -0.01f);
  auto transposed = attributes;
  transposed.push_back({"output_padding", Ints{1, 0}});
  const auto backward = run_single_node(node_of("ConvTranspose", transposed), {y, w})[0];
  ASSERT_EQ(backward.shape(), x.shape());
  double left = 0;
  double right = 0;
  for (size_t i = 0; i < forward.values<float>().size(); ++i) {
    left += double(forward.values<float>()[i]) * y.values<float>()[i];
  }
  for (size_t i = 0; i < x.values<float>().size(); ++i) {
    right += double(backward.values<float>()[i]) * x.values<float>()[i];
  }
  EXPECT_NEAR(left, right, 1e-5 * std::abs(left));
}

TEST(ConvTranspose, OutputShapeDecidesThePadding) {
  const auto y =
      run_single_node(node_of("ConvTranspose", {{"strides", Ints{3, 2}}, {"output_shape", Ints{10, 8}}}),
                      {ramp({1, 1, 3, 3}), ramp({1, 2, 3, 3})})[0];
  EXPECT_EQ(y.shape(), (Ints{1, 2, 10, 8}));
  EXPECT_EQ(refusal(node_of("ConvTranspose", {{"output_shape", Ints{4}}}),
                    {ramp({1, 1, 3, 3}), ramp({1, 2, 3, 3})}),
            "attribute 'output_shape' has 1 entries, expected 2");
}

}  // namespace
}  // namespace hone::reference
