// Operators on quantized tensors: their inputs are dequantized, the standard operator follows, and its result
// is quantized again.
#include "import/onnx/expand/products.hpp"
#include "import/onnx/expand/rules.hpp"

namespace hone::importer {
namespace {

using graph::DType;
using graph::kNoValue;
using graph::Tensor;
using graph::ValueId;

/// Dequantizes inputs `at`, `at` + 1 and `at` + 2: numbers, scale and optional zero point.
ValueId dequantized(Expansion& e, size_t at) {
  std::vector<ValueId> inputs = {e.in(at), e.in(at + 1)};
  if (e.has_in(at + 2)) inputs.push_back(e.in(at + 2));
  return e.op("DequantizeLinear", inputs);
}

/// Quantizes x as output 0, with the scale at input `at` and the zero point after it, in the type of input
/// `like`.
void give_quantized(Expansion& e, ValueId x, size_t at, ValueId like) {
  const ValueId zero = e.has_in(at + 1) ? e.in(at + 1) : e.constant(Tensor(e.dtype(like), {}));
  e.give(0, e.op("QuantizeLinear", {x, e.in(at), zero}));
}

void add(Expansion& e) { give_quantized(e, e.op("Add", {dequantized(e, 0), dequantized(e, 3)}), 6, e.in(0)); }

void mul(Expansion& e) { give_quantized(e, e.op("Mul", {dequantized(e, 0), dequantized(e, 3)}), 6, e.in(0)); }

void sigmoid(Expansion& e) { give_quantized(e, e.op("Sigmoid", {dequantized(e, 0)}), 3, e.in(0)); }

void leaky_relu(Expansion& e) {
  const auto alpha = attributes({{"alpha", e.real("alpha", 0.01f)}});
  give_quantized(e, e.op("LeakyRelu", {dequantized(e, 0)}, alpha), 3, e.in(0));
}

std::vector<int64_t> channels_first(int64_t rank) {
  std::vector<int64_t> perm = {0, rank - 1};
  for (int64_t i = 1; i < rank - 1; ++i) perm.push_back(i);
  return perm;
}

std::vector<int64_t> channels_last(int64_t rank) {
  std::vector<int64_t> perm = {0};
  for (int64_t i = 2; i < rank; ++i) perm.push_back(i);
  perm.push_back(1);
  return perm;
}

/// A pooling, on images of either layout.
void pool(Expansion& e, const char* op) {
  const bool last = e.integer("channels_last", 0) != 0;
  ValueId x = dequantized(e, 0);
  const int64_t rank = e.rank(x);
  if (rank < 3) fail_bad_input("input 0 has rank {}, expected 3 or more", rank);
  if (last) x = e.transpose(x, channels_first(rank));
  ValueId y = e.op(op, {x}, e.other_attributes());
  if (last) y = e.transpose(y, channels_last(rank));
  give_quantized(e, y, 3, e.in(0));
}

void global_average_pool(Expansion& e) { pool(e, "GlobalAveragePool"); }

void average_pool(Expansion& e) { pool(e, "AveragePool"); }

void concat(Expansion& e) {
  const size_t count = e.input_count() < 2 ? 0 : (e.input_count() - 2) / 3;
  if (count == 0 || e.input_count() != 2 + 3 * count)
    fail_bad_input("{} inputs are no scale, zero point and triples", e.input_count());
  std::vector<ValueId> parts;
  for (size_t i = 0; i < count; ++i) parts.push_back(dequantized(e, 2 + 3 * i));
  give_quantized(e, e.concat(parts, e.integer("axis", 0)), 0, e.in(2));
}

/// Before opset 13, the axes from `axis` on are treated as one.
void softmax(Expansion& e) {
  const ValueId x = dequantized(e, 0);
  const int64_t axis = e.integer("axis", -1);
  const int64_t opset = e.integer("opset", e.opset);
  const bool last = axis == -1 || axis == e.rank(x) - 1;
  if (opset >= 13 || last)
    return give_quantized(e, e.op("Softmax", {x}, attributes({{"axis", axis}})), 3, e.in(0));
  std::vector<Extent> shape;
  for (int64_t i = 0; i < e.rank(x); ++i) shape.push_back(e.extent(x, i));
  const ValueId rows = e.op("Flatten", {x}, attributes({{"axis", axis}}));
  const ValueId y = e.op("Softmax", {rows}, attributes({{"axis", int64_t{-1}}}));
  give_quantized(e, e.reshape(y, shape), 3, e.in(0));
}

void reduce_mean(Expansion& e) {
  const auto keeps = attributes({{"keepdims", e.integer("keepdims", 1)}});
  std::vector<ValueId> inputs = {dequantized(e, 0)};
  if (e.has_attribute("axes")) inputs.push_back(e.ints(e.integers("axes")));
  give_quantized(e, e.op("ReduceMean", inputs, keeps), 3, e.in(0));
}

void where(Expansion& e) {
  give_quantized(e, e.op("Where", {e.in(0), dequantized(e, 1), dequantized(e, 4)}), 7, e.in(1));
}

ValueId transposed(Expansion& e, ValueId x, const char* attribute) {
  return e.integer(attribute, 0) != 0 ? e.transpose(x, {1, 0}) : x;
}

/// If there is no scale for the result, the result is floating-point.
void gemm(Expansion& e) {
  IntegerProduct product;
  product.a = transposed(e, e.in(0), "transA");
  product.a_scale = e.in(1);
  product.a_zero = e.maybe_in(2);
  product.b = transposed(e, e.in(3), "transB");
  product.b_scale = e.in(4);
  product.b_zero = e.maybe_in(5);
  product.added = e.maybe_in(6);
  product.alpha = e.real("alpha", 1.0f);
  const ValueId y = float_product(e, product);
  if (e.has_in(7)) return give_quantized(e, y, 7, e.in(0));
  e.give(0, y);
}

/// The standard's QLinearConv, on images of either layout.
void convolution(Expansion& e) {
  const bool last = e.integer("channels_last", 0) != 0;
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < 8; ++i) inputs.push_back(e.in(i));
  if (e.has_in(8)) inputs.push_back(e.in(8));
  const int64_t rank = e.rank(inputs[0]);
  if (last && rank < 3) fail_bad_input("input 0 has rank {}, expected 3 or more", rank);
  if (last) inputs[0] = e.transpose(inputs[0], channels_first(rank));
  const ValueId y = e.op("QLinearConv", inputs, e.other_attributes());
  e.give(0, last ? e.transpose(y, channels_last(rank)) : y);
}

constexpr ExpansionRule kRules[] = {
    {kMicrosoft, "QLinearAdd", 0, add},
    {kMicrosoft, "QLinearMul", 0, mul},
    {kMicrosoft, "QLinearSigmoid", 0, sigmoid},
    {kMicrosoft, "QLinearLeakyRelu", 0, leaky_relu},
    {kMicrosoft, "QLinearGlobalAveragePool", 0, global_average_pool},
    {kMicrosoft, "QLinearAveragePool", 0, average_pool},
    {kMicrosoft, "QLinearConcat", 0, concat},
    {kMicrosoft, "QLinearSoftmax", 0, softmax},
    {kMicrosoft, "QLinearReduceMean", 0, reduce_mean},
    {kMicrosoft, "QLinearWhere", 0, where},
    {kMicrosoft, "QLinearConv", 0, convolution},
    {kMicrosoft, "QGemm", 0, gemm},
};

}  // namespace

std::span<const ExpansionRule> quantized_expansions() { return kRules; }

}  // namespace hone::importer
