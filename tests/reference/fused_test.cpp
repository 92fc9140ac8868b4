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
