// Matrix products and convolutions with the operations that ONNX Runtime fuses into them: transposes,
// factors, additions, activations, and channels-last images.
#include <numeric>

#include "import/onnx/expand/products.hpp"
#include "import/onnx/expand/rules.hpp"

namespace hone::importer {
namespace {

using graph::kNoValue;
using graph::ValueId;

/// Converts the operand to the layout of MatMul. With `batch`, its first axis belongs before the last one.
ValueId operand(Expansion& e, ValueId x, bool transposed, bool batch) {
  const int64_t rank = e.rank(x);
  if (rank < 2 || (!transposed && !batch)) return x;
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  if (batch) {
    perm.erase(perm.begin());
    perm.insert(perm.end() - 1, 0);
  }
  if (transposed) std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return e.transpose(x, perm);
}

ValueId product(Expansion& e) {
  const ValueId a = operand(e, e.in(0), e.integer("transA", 0) != 0, e.integer("transBatchA", 0) != 0);
  const ValueId b = operand(e, e.in(1), e.integer("transB", 0) != 0, e.integer("transBatchB", 0) != 0);
  const ValueId result = e.op("MatMul", {a, b});
  const float alpha = e.real("alpha", 1.0f);
  return alpha == 1.0f ? result : e.op("Mul", {result, e.number_like(alpha, result)});
}

void fused_matmul(Expansion& e) { e.give(0, product(e)); }

/// The parameters of the activation of a Gemm, which are separate attributes.
std::vector<float> activation_parameters(Expansion& e) {
  std::vector<float> parameters;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"}) {
    if (e.has_attribute(name)) parameters.push_back(e.real(name, 0));
  }
  return parameters;
}

void fused_matmul_activation(Expansion& e) {
  e.ignore("activation_axis");
  const std::string activation = e.text("activation", "");
  const auto parameters = activation_parameters(e);
  const ValueId x = product(e);
  if (activation == "Softmax") return e.give(0, e.op("Softmax", {x}, attributes({{"axis", int64_t{-1}}})));
  e.give(0, activate(e, x, activation, parameters));
}

void fused_gemm(Expansion& e) {
  const std::string activation = e.text("activation", "");
  const auto parameters = activation_parameters(e);
  std::vector<ValueId> inputs = {e.in(0), e.in(1)};
  if (e.has_in(2)) inputs.push_back(e.in(2));
  e.give(0, activate(e, e.op("Gemm", inputs, e.other_attributes()), activation, parameters));
}

ValueId to_channels_first(Expansion& e, ValueId x) {
  e.require_rank(x, 4, "a channels-last image");
  return e.transpose(x, {0, 3, 1, 2});
}

ValueId to_channels_last(Expansion& e, ValueId x) { return e.transpose(x, {0, 2, 3, 1}); }

void fused_conv(Expansion& e) {
  const std::string activation = e.text("activation", "");
  const auto parameters = e.reals("activation_params");
  std::vector<ValueId> inputs = {e.in(0), e.in(1)};
  if (e.has_in(2)) inputs.push_back(e.in(2));
  ValueId y = e.op("Conv", inputs, e.other_attributes());
  if (e.has_in(3)) y = e.op("Add", {y, e.in(3)});
  e.give(0, activate(e, y, activation, parameters));
}

/// Expands a convolution with channels-last images and filters.
void nhwc_conv(Expansion& e) {
  std::vector<ValueId> inputs = {to_channels_first(e, e.in(0)), to_channels_first(e, e.in(1))};
  if (e.has_in(2)) inputs.push_back(e.in(2));
  e.give(0, to_channels_last(e, e.op("Conv", inputs, e.other_attributes())));
}

void nhwc_max_pool(Expansion& e) {
  e.give(0, to_channels_last(e, e.op("MaxPool", {to_channels_first(e, e.in(0))}, e.other_attributes())));
}

constexpr ExpansionRule kRules[] = {
    {kMicrosoft, "FusedMatMul", 0, fused_matmul},
    {kMicrosoft, "TransposeMatMul", 0, fused_matmul},
    {kMicrosoft, "FusedMatMulActivation", 0, fused_matmul_activation},
    {kMicrosoft, "FusedGemm", 0, fused_gemm},
    {kMicrosoft, "FusedConv", 0, fused_conv},
    {kMicrosoft, "NhwcConv", 0, nhwc_conv},
    {kMicrosoft, "NhwcMaxPool", 0, nhwc_max_pool},
};

}  // namespace

std::span<const ExpansionRule> fused_product_expansions() { return kRules; }

}  // namespace hone::importer
