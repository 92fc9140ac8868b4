// A fused operator gives what its base operator and the operators its post-ops stand for give one by one.
#include "reference/single_node.hpp"

namespace hone::reference {
namespace {

using Attributes = std::vector<std::pair<std::string, graph::Attribute>>;
using Strings = std::vector<std::string>;
using Floats = std::vector<float>;
using tensor::Tensor;

Attributes post_ops(Strings ops, Floats alphas = {}, Floats betas = {}) {
  alphas.resize(ops.size());
  betas.resize(ops.size());
  return {{"post_ops", std::move(ops)}, {"post_alphas", std::move(alphas)}, {"post_betas", std::move(betas)}};
}

/// Values on both sides of every kink that an activation has.
Tensor numbers() { return ramp({2, 3, 4}, -6, 0.5f); }

Tensor apply(const char* op, const Tensor& x, const Attributes& attributes = {}) {
  return run_single_node(node_of(op, attributes), {x})[0];
}

void expect_close(const Tensor& a, const Tensor& b, const std::string& what) {
  ASSERT_EQ(a.shape(), b.shape()) << what;
  const auto va = a.to_double();
  const auto vb = b.to_double();
  // Both round to float once or twice: two units in the last place.
  for (size_t i = 0; i < va.size(); ++i)
    EXPECT_NEAR(va[i], vb[i], 2.4e-7 * std::max(1.0, std::abs(vb[i]))) << what;
}

TEST(Fused, EveryActivationIsItsOperator) {
  const Tensor x = numbers();
  const auto fused = [&](const char* op, float alpha = 0, float beta = 0) {
    return apply("FusedElementwise", x, post_ops({op}, {alpha}, {beta}));
  };
  expect_close(fused("relu"), apply("Relu", x), "relu");
  expect_close(fused("leaky_relu", 0.3f), apply("LeakyRelu", x, {{"alpha", 0.3f}}), "leaky_relu");
  expect_close(fused("sigmoid"), apply("Sigmoid", x), "sigmoid");
  expect_close(fused("tanh"), apply("Tanh", x), "tanh");
  expect_close(fused("hard_swish"), apply("HardSwish", x), "hard_swish");
  expect_close(fused("hard_sigmoid", 0.3f, 0.4f), apply("HardSigmoid", x, {{"alpha", 0.3f}, {"beta", 0.4f}}),
               "hard_sigmoid");
  expect_close(fused("elu", 0.7f), apply("Elu", x, {{"alpha", 0.7f}}), "elu");
  expect_close(fused("gelu_erf"), apply("Gelu", x), "gelu_erf");
  expect_close(fused("gelu_tanh"), apply("Gelu", x, {{"approximate", std::string("tanh")}}), "gelu_tanh");
  expect_close(fused("softplus"), apply("Softplus", x), "softplus");
  expect_close(fused("mish"), apply("Mish", x), "mish");
  const auto clipped = run_single_node(node_of("Clip"), {x, Tensor::scalar(-1.0f), Tensor::scalar(2.0f)});
  expect_close(fused("clip", -1, 2), clipped[0], "clip");
  const Tensor doubled = run_single_node(node_of("Mul"), {x, Tensor::scalar(2.0f)})[0];
  const Tensor swish = run_single_node(node_of("Mul"), {x, apply("Sigmoid", doubled)})[0];
  expect_close(fused("swish", 2), swish, "swish");
}

TEST(Fused, BinaryPostOpsTakeTheirOperandsInOrder) {
  const Tensor x = ramp({2, 2});
  const auto y = run_single_node(node_of("FusedElementwise", post_ops({"sub", "relu", "mul", "add"})),
                                 {x, Tensor::scalar(1.0f), ramp({2, 1}, 2), ramp({2})});
  EXPECT_EQ(y[0].to_double(), (std::vector<double>{0, 1, 3, 7}));
}

TEST(Fused, ConvolutionAddsTheResidualBeforeTheActivation) {
  const Tensor x = ramp({1, 2, 4, 4}, -3, 0.25f);
  const Tensor w = ramp({3, 2, 3, 3}, -2, 0.1f);
  const Tensor b = ramp({3}, -1);
  const Tensor residual = ramp({1, 3, 2, 2}, -20, 4);
  const Tensor conv = run_single_node(node_of("Conv"), {x, w, b})[0];
  const Tensor sum = run_single_node(node_of("Add"), {conv, residual})[0];
  const auto y = run_single_node(node_of("FusedConv", post_ops({"add", "relu"})), {x, w, b, residual});
  expect_close(y[0], apply("Relu", sum), "conv");
  const auto no_bias = run_single_node(node_of("FusedConv", post_ops({"relu"})), {x, w});
  expect_close(no_bias[0], apply("Relu", run_single_node(node_of("Conv"), {x, w})[0]), "no bias");
}

TEST(Fused, ConvolutionIsPooledAfterItsPostOps) {
  const Tensor x = ramp({2, 2, 7, 7}, -3, 0.05f);
  const Tensor w = ramp({3, 2, 3, 3}, -2, 0.1f);
  const Tensor b = ramp({3}, -1);
  const Tensor residual = ramp({2, 3, 5, 5}, -20, 0.4f);
  const Tensor sum =
      run_single_node(node_of("Add"), {run_single_node(node_of("Conv"), {x, w, b})[0], residual})[0];
  using Ints = std::vector<int64_t>;
  for (const int64_t ceil_mode : {0, 1}) {
    const Attributes window = {{"kernel_shape", Ints{2, 2}},
                               {"pads", Ints{0, 0, 0, 0}},
                               {"strides", Ints{2, 2}},
                               {"ceil_mode", ceil_mode}};
    Attributes fused = post_ops({"add", "relu"});
    for (const auto& [name, value] : window) fused.emplace_back("pool_" + name, value);
    const auto y = run_single_node(node_of("FusedConvMaxPool", fused), {x, w, b, residual});
    expect_close(y[0], run_single_node(node_of("MaxPool", window), {apply("Relu", sum)})[0], "pooled");
  }
}

TEST(Fused, StemIsAPooledConvolutionAndOneBehindIt) {
  const Tensor x = ramp({2, 2, 7, 7}, -3, 0.05f);
  const Tensor w = ramp({3, 2, 3, 3}, -2, 0.1f);
  const Tensor b = ramp({3}, -1);
  const Tensor next_w = ramp({4, 3, 1, 1}, -0.5f, 0.1f);
  const Tensor next_b = ramp({4}, -2);
  using Ints = std::vector<int64_t>;
  Attributes pooled = post_ops({"relu"});
  for (const auto& [name, value] :
       {std::pair("pool_kernel_shape", Ints{3, 3}), {"pool_pads", Ints(4, 1)}, {"pool_strides", Ints{2, 2}}})
    pooled.emplace_back(name, value);
  Attributes stem = pooled;
  for (const auto& [name, value] : post_ops({"relu"})) stem.emplace_back("next_" + name, value);
  for (const Tensor& bias : {next_b, Tensor()}) {
    std::vector<Tensor> inputs = {x, w, b, next_w};
    std::vector<Tensor> next = {Tensor(), next_w};
    if (bias.defined()) inputs.push_back(bias);
    if (bias.defined()) next.push_back(bias);
    const auto y = run_single_node(node_of("FusedStem", stem), inputs, 2);
    next[0] = run_single_node(node_of("FusedConvMaxPool", pooled), {x, w, b})[0];
    expect_close(y[0], next[0], "pooled");
    expect_close(y[1], apply("Relu", run_single_node(node_of("Conv"), next)[0]), "behind the pool");
  }
  const auto refused = [&](std::vector<Tensor> inputs) {
    return refusal(node_of("FusedStem", stem), inputs, 2);
  };
  EXPECT_EQ(refused({x, w, b}), "required input 3 is missing");
  EXPECT_EQ(refused({x, w, b, ramp({4, 2, 1, 1})}), "input 3 has shape 4x2x1x1, expected 4x3x1x1");
  EXPECT_EQ(refused({x, w, b, next_w, ramp({3})}), "input 4 has shape 3, expected 4");
}

TEST(Fused, ConvolutionsAreAddedBeforeTheActivation) {
  const Tensor x = ramp({2, 2, 5, 4}, -3, 0.05f);
  const Tensor w = ramp({3, 2, 3, 3}, -2, 0.1f);
  const Tensor b = ramp({3}, -1);
  const Tensor second_x = ramp({2, 4, 6, 4}, -4, 0.05f);
  const Tensor second_w = ramp({3, 4, 1, 1}, -1, 0.2f);
  using Ints = std::vector<int64_t>;
  const Attributes apart = {{"strides", Ints{2, 2}}};
  const Tensor second = run_single_node(node_of("Conv", apart), {second_x, second_w})[0];
  Attributes fused = post_ops({"relu"});
  fused.emplace_back("second_strides", Ints{2, 2});
  const auto sum_with = [&](const std::vector<Tensor>& first) {
    return run_single_node(node_of("Add"), {run_single_node(node_of("Conv"), first)[0], second})[0];
  };
  const auto y = run_single_node(node_of("FusedConvSum", fused), {x, w, second_x, second_w, b});
  expect_close(y[0], apply("Relu", sum_with({x, w, b})), "with a bias");
  const auto plain = run_single_node(node_of("FusedConvSum", fused), {x, w, second_x, second_w});
  expect_close(plain[0], apply("Relu", sum_with({x, w})), "without one");
}

TEST(Fused, MalformedConvolutionSumIsRefused) {
  const Tensor x = ramp({1, 2, 3, 3});
  const Tensor w = ramp({3, 2, 1, 1});
  const auto refusal = [&](const Attributes& attributes, const Tensor& second_x, const Tensor& second_w) {
    try {
      run_single_node(node_of("FusedConvSum", attributes), {x, w, second_x, second_w});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal({}, x, w), "");
  EXPECT_NE(refusal({}, ramp({1, 2, 4, 3}), w).find("the convolutions make"), std::string::npos);
  EXPECT_NE(refusal({}, x, ramp({4, 2, 1, 1})).find("the convolutions make"), std::string::npos);
  EXPECT_NE(refusal({}, ramp({1, 4, 3, 3}), w).find("input 3 takes"), std::string::npos);
  EXPECT_NE(refusal({{"second_group", int64_t{2}}}, x, w).find("second_group"), std::string::npos);
  EXPECT_NE(refusal({}, ramp({2, 3}), w).find("inputs 2 and 3"), std::string::npos);
  EXPECT_NE(refusal(post_ops({"add"}), x, w).find("no activation"), std::string::npos);
}

TEST(Fused, ConvolutionIsAveragedAfterItsPostOps) {
  const Tensor x = ramp({2, 2, 5, 4}, -3, 0.05f);
  const Tensor w = ramp({3, 2, 3, 3}, -2, 0.1f);
  const Tensor b = ramp({3}, -1);
  const Tensor residual = ramp({2, 3, 3, 2}, -20, 1.5f);
  const Tensor sum =
      run_single_node(node_of("Add"), {run_single_node(node_of("Conv"), {x, w, b})[0], residual})[0];
  const auto y =
      run_single_node(node_of("FusedConvGlobalPool", post_ops({"add", "relu"})), {x, w, b, residual});
  expect_close(y[0], apply("GlobalAveragePool", apply("Relu", sum)), "averaged");
}

TEST(Fused, SqueezeExciteIsItsPartsOneByOne) {
  const Tensor x = ramp({2, 4, 3, 5}, -3, 0.05f);
  const Tensor w1 = ramp({3, 4, 1, 1}, -0.5f, 0.1f);
  const Tensor w2 = ramp({4, 3, 1, 1}, -0.6f, 0.1f);
  const Tensor b1 = ramp({3}, -0.5f, 0.5f);
  const Tensor b2 = ramp({4}, -0.2f, 0.1f);
  const auto block = [&](const Tensor& squeeze_bias, const Tensor& gate_bias) {
    const auto conv = [](const Tensor& in, const Tensor& w, const Tensor& b) {
      return run_single_node(node_of("Conv"), b.defined() ? std::vector{in, w, b} : std::vector{in, w})[0];
    };
    const Tensor hidden = apply("Relu", conv(apply("GlobalAveragePool", x), w1, squeeze_bias));
    const Tensor gate = apply("HardSigmoid", conv(hidden, w2, gate_bias), {{"alpha", 0.3f}, {"beta", 0.4f}});
    return run_single_node(node_of("Mul"), {x, gate})[0];
  };
  const auto node = node_of("FusedSqueezeExcite", {{"squeeze_post_ops", Strings{"relu"}},
                                                   {"squeeze_post_alphas", Floats{0}},
                                                   {"squeeze_post_betas", Floats{0}},
                                                   {"gate_post_ops", Strings{"hard_sigmoid"}},
                                                   {"gate_post_alphas", Floats{0.3f}},
                                                   {"gate_post_betas", Floats{0.4f}}});
  expect_close(run_single_node(node, {x, w1, w2, b1, b2})[0], block(b1, b2), "both biases");
  expect_close(run_single_node(node, {x, w1, w2, b1})[0], block(b1, {}), "the first bias");
  expect_close(run_single_node(node, {x, w1, w2, Tensor(), b2})[0], block({}, b2), "the second bias");
  expect_close(run_single_node(node, {x, w1, w2})[0], block({}, {}), "no bias");
}

TEST(Fused, MalformedSqueezeExciteIsRefused) {
  const Tensor x = ramp({2, 4, 3, 5});
  const Tensor w1 = ramp({3, 4, 1, 1});
  const Tensor w2 = ramp({4, 3, 1, 1});
  const auto plain = node_of("FusedSqueezeExcite");
  EXPECT_EQ(refusal(plain, {x, w1, w2}), "");
  EXPECT_NE(refusal(plain, {x, w1, w1}), "");
  EXPECT_NE(refusal(plain, {x, ramp({3, 5, 1, 1}), w2}), "");
  EXPECT_NE(refusal(plain, {x, ramp({3, 4, 2, 1}), w2}), "");
  EXPECT_NE(refusal(plain, {x, w1, w2, ramp({4})}), "");
  EXPECT_NE(refusal(plain, {x, w1, w2, Tensor(), ramp({3})}), "");
  EXPECT_NE(refusal(plain, {ramp({2, 4}), w1, w2}), "");
  for (const char* prefix : {"squeeze_", "gate_"}) {
    const auto with = [&](Strings ops, Floats numbers) {
      const std::string name = prefix;
      return node_of("FusedSqueezeExcite", {{name + "post_ops", std::move(ops)},
                                            {name + "post_alphas", numbers},
                                            {name + "post_betas", numbers}});
    };
    EXPECT_EQ(refusal(with({"relu"}, {0}), {x, w1, w2}), "");
    EXPECT_NE(refusal(with({"relu"}, {}), {x, w1, w2}), "");
    EXPECT_NE(refusal(with({"add"}, {0}), {x, w1, w2}), "");
    EXPECT_NE(refusal(with({"cosine"}, {0}), {x, w1, w2}), "");
  }
}

TEST(Fused, MatMulTakesABiasAndGemmItsC) {
  const Tensor a = ramp({2, 2, 3}, -4);
  const Tensor b = ramp({3, 2}, -2);
  const Tensor bias = ramp({2}, 5);
  const Tensor product = run_single_node(node_of("MatMul"), {a, b})[0];
  const Tensor sum = run_single_node(node_of("Add"), {product, bias})[0];
  expect_close(run_single_node(node_of("FusedMatMul", post_ops({"relu"})), {a, b, bias})[0],
               apply("Relu", sum), "matmul");
  const auto extra = run_single_node(node_of("FusedMatMul", post_ops({"add"})), {a, b, Tensor(), bias});
  expect_close(extra[0], sum, "matmul with an extra operand alone");

  const Tensor m = ramp({2, 3}, -4);
  Attributes attributes = post_ops({"relu"});
  attributes.emplace_back("alpha", 0.5f);
  attributes.emplace_back("transB", int64_t{1});
  const Tensor bt = ramp({2, 3}, -2);
  const Tensor gemm =
      run_single_node(node_of("Gemm", {{"alpha", 0.5f}, {"transB", int64_t{1}}}), {m, bt, bias})[0];
  expect_close(run_single_node(node_of("FusedGemm", attributes), {m, bt, bias})[0], apply("Relu", gemm),
               "gemm");
}

TEST(Fused, MalformedPostOpsAreRefused) {
  const Tensor x = ramp({2, 2});
  EXPECT_NE(refusal(node_of("FusedElementwise", post_ops({"cosine"})), {x}), "");
  EXPECT_NE(refusal(node_of("FusedElementwise", post_ops({"add"})), {x}), "");
  EXPECT_NE(refusal(node_of("FusedElementwise", post_ops({"relu"})), {x, x}), "");
  EXPECT_NE(refusal(node_of("FusedElementwise", post_ops({"add"})), {x, ramp({3, 2, 2})}), "");
  EXPECT_NE(refusal(node_of("FusedElementwise", {{"post_ops", Strings{"relu"}}}), {x}), "");
}

}  // namespace
}  // namespace hone::reference
