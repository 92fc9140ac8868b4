// See products.hpp.
#include "import/onnx/expand/products.hpp"

namespace hone::importer {

using graph::kNoValue;
using graph::ValueId;

ValueId float_product(Expansion& e, const IntegerProduct& product) {
  std::vector<ValueId> inputs = {product.a, product.b, product.a_zero, product.b_zero};
  while (inputs.back() == kNoValue) inputs.pop_back();
  ValueId sums = e.op("MatMulInteger", inputs);
  if (product.added != kNoValue) sums = e.op("Add", {sums, product.added});
  ValueId scale = e.op("Mul", {product.a_scale, product.b_scale});
  if (product.alpha != 1) scale = e.op("Mul", {scale, e.number_like(product.alpha, scale)});
  return e.op("Mul", {e.cast(sums, e.dtype(scale)), scale});
}

ValueId activate(Expansion& e, ValueId x, const std::string& activation,
                 const std::vector<float>& parameters) {
  const auto parameter = [&](size_t i, float fallback) {
    return i < parameters.size() ? parameters[i] : fallback;
  };
  if (activation.empty()) return x;
  for (const char* plain : {"Relu", "Tanh", "Sigmoid", "Gelu", "HardSwish", "Softplus", "Softsign"}) {
    if (activation == plain) return e.op(activation, {x});
  }
  if (activation == "LeakyRelu" || activation == "Elu" || activation == "ThresholdedRelu") {
    const float fallback = activation == "LeakyRelu" ? 0.01f : 1.0f;
    return e.op(activation, {x}, attributes({{"alpha", parameter(0, fallback)}}));
  }
  if (activation == "HardSigmoid") {
    return e.op(activation, {x}, attributes({{"alpha", parameter(0, 0.2f)}, {"beta", parameter(1, 0.5f)}}));
  }
  if (activation == "Clip" && parameters.size() == 2)
    return e.op("Clip", {x, e.number_like(parameters[0], x), e.number_like(parameters[1], x)});
  fail_bad_input("attribute 'activation' is '{}', which is not supported", activation.substr(0, 200));
}

}  // namespace hone::importer
