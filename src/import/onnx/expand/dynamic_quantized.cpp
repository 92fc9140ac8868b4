// Products of bytes with floating-point results, to which dynamic quantization converts MatMul.
#include "import/onnx/expand/products.hpp"
#include "import/onnx/expand/recurrent_quantized.hpp"
#include "import/onnx/expand/rules.hpp"

namespace hone::importer {
namespace {

using graph::ValueId;

ValueId with_bias(Expansion& e, ValueId x, size_t bias) {
  return e.has_in(bias) ? e.op("Add", {x, e.in(bias)}) : x;
}

void dynamic_quantize_matmul(Expansion& e) {
  const auto quantized = e.ops("DynamicQuantizeLinear", {e.in(0)}, 3);
  IntegerProduct product;
  product.a = quantized[0];
  product.a_scale = quantized[1];
  product.a_zero = quantized[2];
  product.b = e.in(1);
  product.b_scale = e.in(2);
  product.b_zero = e.maybe_in(3);
  e.give(0, with_bias(e, float_product(e, product), 4));
}

void matmul_integer_to_float(Expansion& e) {
  IntegerProduct product;
  product.a = e.in(0);
  product.b = e.in(1);
  product.a_scale = e.in(2);
  product.b_scale = e.in(3);
  product.a_zero = e.maybe_in(4);
  product.b_zero = e.maybe_in(5);
  e.give(0, with_bias(e, float_product(e, product), 6));
}

constexpr ExpansionRule kRules[] = {
    {kMicrosoft, "DynamicQuantizeLSTM", 0, dynamic_quantize_lstm},
    {kMicrosoft, "DynamicQuantizeMatMul", 0, dynamic_quantize_matmul},
    {kMicrosoft, "MatMulIntegerToFloat", 0, matmul_integer_to_float},
};

}  // namespace

std::span<const ExpansionRule> dynamic_quantized_expansions() { return kRules; }

}  // namespace hone::importer
