// A FusedStem gives what its convolutions, the pool and the activations give one by one.
#include "reference/single_node.hpp"

namespace hone::reference {
namespace {

using Attributes = std::vector<std::pair<std::string, graph::Attribute>>;
using Strings = std::vector<std::string>;
using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;
using tensor::Tensor;

/// Inputs in the operator's order, each of other sizes than the rest.
std::vector<Tensor> all_inputs() {
  return {ramp({2, 3, 9, 11}, -3, 0.02f), ramp({5, 3, 3, 3}, -1, 0.015f), ramp({4, 5, 1, 1}, -0.9f, 0.1f),
          ramp({5}, -1, 0.5f), ramp({4}, 2, -1.5f)};
}

const Attributes kConvolution = {{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 1}}};

Attributes window(int64_t pad, int64_t ceil_mode) {
  return {{"kernel_shape", Ints{3, 3}},
          {"strides", Ints{2, 2}},
          {"pads", Ints{pad, pad, pad, pad}},
          {"ceil_mode", ceil_mode}};
}

void add_post_op(Attributes& attributes, const std::string& prefix, const std::string& op, float low,
                 float high) {
  if (op.empty()) return;
  attributes.emplace_back(prefix + "post_ops", Strings{op});
  attributes.emplace_back(prefix + "post_alphas", Floats{low});
  attributes.emplace_back(prefix + "post_betas", Floats{high});
}

graph::Node stem(const std::string& op = "", const std::string& next_op = "",
                 const Attributes& pool = window(1, 0)) {
  Attributes attributes = kConvolution;
  for (const auto& [name, value] : pool) attributes.emplace_back("pool_" + name, value);
  add_post_op(attributes, "", op, -1, 2);
  add_post_op(attributes, "next_", next_op, 0, 3);
  return node_of("FusedStem", attributes);
}

Tensor convolve(const Tensor& x, const Tensor& filters, const Tensor& bias, const Attributes& geometry,
                const std::string& op, float low, float high) {
  std::vector<Tensor> operands = {x, filters};
  if (bias.defined()) operands.push_back(bias);
  const Tensor sum = run_single_node(node_of("Conv", geometry), operands)[0];
  if (op.empty()) return sum;
  if (op == "relu") return run_single_node(node_of("Relu"), {sum})[0];
  return run_single_node(node_of("Clip"), {sum, Tensor::scalar(low), Tensor::scalar(high)})[0];
}

void expect_same(std::vector<Tensor> inputs, const std::string& op, const std::string& next_op,
                 const Attributes& pool) {
  const auto actual = run_single_node(stem(op, next_op, pool), inputs, 2);
  inputs.resize(5);
  const Tensor finished = convolve(inputs[0], inputs[1], inputs[3], kConvolution, op, -1, 2);
  const Tensor pooled = run_single_node(node_of("MaxPool", pool), {finished})[0];
  const Tensor next = convolve(pooled, inputs[2], inputs[4], {}, next_op, 0, 3);
  const std::string what = "'" + op + "' and '" + next_op + "'";
  EXPECT_EQ(actual[0].shape(), pooled.shape()) << what;
  EXPECT_EQ(actual[0].to_double(), pooled.to_double()) << what;
  EXPECT_EQ(actual[1].shape(), next.shape()) << what;
  EXPECT_EQ(actual[1].to_double(), next.to_double()) << what;
}

TEST(FusedStem, IsItsPartsOneByOne) {
  for (const char* op : {"", "relu", "clip"}) {
    for (const char* next_op : {"", "relu", "clip"}) expect_same(all_inputs(), op, next_op, window(1, 0));
  }
  expect_same(all_inputs(), "relu", "clip", window(0, 0));
  expect_same(all_inputs(), "relu", "clip", window(0, 1));
}

TEST(FusedStem, EachBiasMayBeMissing) {
  std::vector<Tensor> inputs = all_inputs();
  inputs[3] = Tensor();
  expect_same(inputs, "relu", "relu", window(1, 0));
  inputs.resize(3);
  expect_same(inputs, "relu", "relu", window(1, 0));
  inputs.push_back(all_inputs()[3]);
  expect_same(inputs, "relu", "relu", window(1, 0));
}

std::string with_input(size_t i, Tensor other) {
  std::vector<Tensor> inputs = all_inputs();
  inputs[i] = std::move(other);
  return refusal(stem(), inputs, 2);
}

TEST(FusedStem, OtherInputsAreRefused) {
  const std::pair<size_t, tensor::Shape> others[] = {{0, {2, 4, 9, 11}}, {0, {2, 3, 9}},    {1, {5, 3, 3}},
                                                     {3, {4}},           {2, {4, 6, 1, 1}}, {2, {4, 5, 3, 3}},
                                                     {2, {4, 5}},        {4, {5}},          {4, {4, 1}}};
  for (const auto& [input, shape] : others)
    EXPECT_NE(with_input(input, ramp(shape)), "") << input << " of " << shape.size() << " axes";
  for (const size_t needed : {1, 2}) EXPECT_NE(with_input(needed, Tensor()), "") << needed;
  for (size_t i = 1; i < 5; ++i)
    EXPECT_NE(with_input(i, all_inputs()[i].cast(tensor::DType::kFloat64)), "") << i;
}

TEST(FusedStem, OtherPostOpsAreRefused) {
  EXPECT_EQ(refusal(stem("add"), all_inputs(), 2),
            "attribute 'post_ops' names 'add', which is no activation");
  EXPECT_EQ(refusal(stem("relu", "add"), all_inputs(), 2),
            "attribute 'next_post_ops' names 'add', which is no activation");
}

}  // namespace
}  // namespace hone::reference
