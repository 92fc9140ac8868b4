// Operator table entries of the elementwise family: the output has the (broadcast) shape of the inputs.
// Activations are in activation.cpp.
#include <algorithm>
#include <functional>

#include "graph/operator_table.hpp"
#include "graph/operators/activation.hpp"
#include "graph/operators/rules.hpp"

namespace hone::graph {
namespace {

using Kind = AttributeKind;

// Shape data are not sizes yet: results that overflow are unknown here, whereas the kernels wrap around.

Dim sum(const Dim& a, const Dim& b) {
  int64_t result;
  const bool overflows = a.known() && b.known() && __builtin_add_overflow(a.value(), b.value(), &result);
  return overflows ? Dim() : a + b;
}

Dim difference(const Dim& a, const Dim& b) {
  int64_t result;
  const bool overflows = a.known() && b.known() && __builtin_sub_overflow(a.value(), b.value(), &result);
  return overflows ? Dim() : a - b;
}

Dim product(const Dim& a, const Dim& b) {
  int64_t result;
  const bool overflows = a.known() && b.known() && __builtin_mul_overflow(a.value(), b.value(), &result);
  return overflows ? Dim() : a * b;
}

/// ONNX divides integers towards zero, as C++ does; a zero divisor is left to the kernel.
Dim quotient(const Dim& a, const Dim& b) { return b.is(0) || (a.is(INT64_MIN) && b.is(-1)) ? Dim() : a / b; }

/// Follows shape data through a function of two elements, with broadcasting.
template <Dim (*op)(const Dim&, const Dim&)>
void follow_pairs(InferenceContext& context) {
  const auto a = context.data(0);
  const auto b = context.data(1);
  if (!a || !b || a->empty() || b->empty()) return;
  if (a->size() != b->size() && a->size() != 1 && b->size() != 1) return;
  Dims result;
  for (size_t i = 0; i < std::max(a->size(), b->size()); ++i) {
    result.push_back(op((*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]));
  }
  context.set_output_data(0, std::move(result));
}

/// Add, Sub, Mul, Div on shape data, so that computed shapes stay symbolic.
template <Dim (*op)(const Dim&, const Dim&)>
void infer_arithmetic(InferenceContext& context) {
  infer_broadcast(context);
  if (tensor::is_integer(context.dtype(0))) follow_pairs<op>(context);
}

/// Comparisons and logic on shape data, so that conditions of If are known if they depend only on shapes.
template <class Compare>
Dim compared(const Dim& a, const Dim& b) {
  return a.known() && b.known() ? Dim(Compare()(a.value(), b.value()) ? 1 : 0) : Dim();
}
Dim both_true(const Dim& a, const Dim& b) {
  if (a.is(0) || b.is(0)) return 0;
  return a.known() && b.known() ? Dim(1) : Dim();
}
Dim one_true(const Dim& a, const Dim& b) {
  if (a.is(1) || b.is(1)) return 1;
  return a.known() && b.known() ? Dim(0) : Dim();
}

void infer_integers(InferenceContext& context) {
  require_integer(context, 0);
  infer_broadcast(context);
}

void infer_bit_shift(InferenceContext& context) {
  require_choice(context, "direction", {"LEFT", "RIGHT"});
  infer_integers(context);
}

void infer_logic(InferenceContext& context) {
  for (size_t i = 0; i < context.input_count(); ++i) require_bool(context, i);
  context.set_output(0, DType::kBool, broadcast_inputs(context));
}

void infer_comparison(InferenceContext& context) {
  require_same_dtype(context, 0, 1);
  context.set_output(0, DType::kBool, broadcast_inputs(context));
}

template <class Compare>
void infer_followed_comparison(InferenceContext& context) {
  infer_comparison(context);
  follow_pairs<compared<Compare>>(context);
}

template <Dim (*op)(const Dim&, const Dim&)>
void infer_followed_logic(InferenceContext& context) {
  infer_logic(context);
  follow_pairs<op>(context);
}

void infer_not(InferenceContext& context) {
  infer_logic(context);
  auto data = context.data(0);
  if (!data) return;
  for (Dim& element : *data) element = element.known() ? Dim(element.is(0) ? 1 : 0) : Dim();
  context.set_output_data(0, std::move(*data));
}

void infer_pow(InferenceContext& context) {
  context.set_output(0, context.dtype(0), broadcast_inputs(context));
}

void infer_mod(InferenceContext& context) {
  const int64_t fmod = context.attributes().get_int("fmod");
  context.require(fmod == 0 || fmod == 1, "attribute 'fmod' is {}, expected 0 or 1", fmod);
  context.require(fmod == 1 || !tensor::is_floating(context.dtype(0)),
                  "floating-point inputs need attribute 'fmod' to be 1");
  infer_broadcast(context);
}

void infer_floating_test(InferenceContext& context) {
  require_floating(context, 0);
  context.set_output(0, DType::kBool, context.input(0).dims);
}

void infer_identity(InferenceContext& context) {
  infer_same(context);
  if (auto data = context.data(0)) context.set_output_data(0, std::move(*data));
}

void cast_to(InferenceContext& context, DType dtype) {
  context.set_output(0, dtype, context.input(0).dims);
  if (auto data = context.data(0)) context.set_output_data(0, std::move(*data));
}

void infer_cast(InferenceContext& context) {
  const int64_t to = context.attributes().get_int("to");
  const bool supported = to > 0 && to <= 255 && tensor::is_supported(static_cast<DType>(to));
  context.require(supported, "attribute 'to' is {}, which is no supported element type", to);
  cast_to(context, static_cast<DType>(to));
}

void infer_cast_like(InferenceContext& context) { cast_to(context, context.dtype(1)); }

/// 16-bit floats are refused, because the engine may store them in a wider type with different bits.
void infer_bit_cast(InferenceContext& context) {
  const int64_t to = context.attributes().get_int("to");
  const bool supported = to > 0 && to <= 255 && tensor::is_supported(static_cast<DType>(to));
  context.require(supported, "attribute 'to' is {}, which is no supported element type", to);
  const auto dtype = static_cast<DType>(to);
  const DType from = context.dtype(0);
  if (from != DType::kUndefined) {
    context.require(!tensor::is_half(from) && !tensor::is_half(dtype),
                    "the bits of float16 and bfloat16 are not supported");
    context.require(tensor::dtype_size(from) == tensor::dtype_size(dtype), "{} and {} have different sizes",
                    tensor::dtype_name(from), tensor::dtype_name(dtype));
  }
  context.set_output(0, dtype, context.input(0).dims);
}

void infer_where(InferenceContext& context) {
  require_bool(context, 0);
  require_same_dtype(context, 1, 2);
  context.set_output(0, context.dtype(1), broadcast_inputs(context));
  const auto condition = context.known_data(0);
  const auto a = context.data(1);
  const auto b = context.data(2);
  if (!condition || !a || !b) return;
  const size_t size = std::max({condition->size(), a->size(), b->size()});
  const auto stretches = [&](size_t count) { return count == size || count == 1; };
  if (!stretches(condition->size()) || !stretches(a->size()) || !stretches(b->size())) return;
  Dims result;
  for (size_t i = 0; i < size; ++i) {
    const Dims& taken = (*condition)[condition->size() == 1 ? 0 : i] != 0 ? *a : *b;
    result.push_back(taken[taken.size() == 1 ? 0 : i]);
  }
  context.set_output_data(0, std::move(result));
}

OperatorDef fixed(std::string name, int since, int inputs, InferRule infer,
                  std::vector<AttributeDef> attributes = {}) {
  return {.name = std::move(name),
          .since_version = since,
          .min_inputs = inputs,
          .max_inputs = inputs,
          .attributes = std::move(attributes),
          .infer = infer,
          .traits = {.elementwise = true}};
}

OperatorDef variadic(std::string name, InferRule infer) {
  return {.name = std::move(name),
          .since_version = 13,
          .min_inputs = 1,
          .max_inputs = OperatorDef::kVariadic,
          .infer = infer,
          .traits = {.elementwise = true}};
}

struct Simple {
  const char* name;
  int since;
  Traits traits = {.elementwise = true};
};

constexpr Traits kStep = {.elementwise = true, .discontinuous = true};
constexpr Traits kNonNegative = {.elementwise = true, .non_negative = true};
constexpr Traits kAngle = {.elementwise = true, .periodic = true};
constexpr Traits kConversion = {.elementwise = true, .converts = true};
constexpr Traits kActivation = {.elementwise = true, .activation = true};

constexpr Simple kFloatingUnary[] = {
    {"Acos", 22},
    {"Acosh", 22},
    {"Asin", 22},
    {"Asinh", 22},
    {"Atan", 22},
    {"Atanh", 22},
    {"Ceil", 13, kStep},
    {"Cos", 22, kAngle},
    {"Cosh", 22},
    {"Exp", 13, kNonNegative},
    {"Floor", 13, kStep},
    {"Log", 13},
    {"Round", 22, kStep},
    {"Sin", 22, kAngle},
    {"Sinh", 22},
    {"Sqrt", 13, kNonNegative},
    {"Tan", 22, kAngle},
    {"Reciprocal", 13},
    {"Tanh", 13, kActivation},
};

}  // namespace

void add_elementwise_operators(std::vector<OperatorDef>& table) {
  const auto add = [&](OperatorDef def, Traits traits) {
    def.traits = traits;
    table.push_back(std::move(def));
  };
  for (const auto& [name, since, traits] : kFloatingUnary)
    add(fixed(name, since, 1, infer_same_floating), traits);
  table.push_back(fixed("Erf", 13, 1, infer_same));
  add(fixed("Neg", 13, 1, infer_same), {.elementwise = true, .scales_with_input = true});
  add(fixed("Abs", 13, 1, infer_same),
      {.elementwise = true, .non_negative = true, .scales_with_input = true});
  add(fixed("Sign", 13, 1, infer_same), kStep);
  add(fixed("Identity", 21, 1, infer_identity),
      {.view = true, .elementwise = true, .moves_only = true, .scales_with_input = true});
  table.push_back(fixed("Not", 1, 1, infer_not));
  table.push_back(fixed("BitwiseNot", 18, 1, infer_integers));
  table.push_back(fixed("IsNaN", 20, 1, infer_floating_test));
  table.push_back(fixed("IsInf", 20, 1, infer_floating_test,
                        {int_attribute("detect_negative", 1), int_attribute("detect_positive", 1)}));
  add(fixed("Cast", 21, 1, infer_cast, {required_attribute("to", Kind::kInt), int_attribute("saturate", 1)}),
      kConversion);
  add(fixed("BitCast", 26, 1, infer_bit_cast, {required_attribute("to", Kind::kInt)}), {});
  add(fixed("CastLike", 21, 2, infer_cast_like, {int_attribute("saturate", 1)}), {.converts = true});
  table.push_back(fixed("Add", 14, 2, infer_arithmetic<sum>));
  table.push_back(fixed("Sub", 14, 2, infer_arithmetic<difference>));
  table.push_back(fixed("Mul", 14, 2, infer_arithmetic<product>));
  table.push_back(fixed("Div", 14, 2, infer_arithmetic<quotient>));
  add(fixed("Mod", 13, 2, infer_mod, {int_attribute("fmod", 0)}), kStep);
  table.push_back(fixed("Pow", 15, 2, infer_pow));
  table.push_back(
      fixed("BitShift", 11, 2, infer_bit_shift, {required_attribute("direction", Kind::kString)}));
  for (const char* name : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"}) {
    table.push_back(fixed(name, 18, 2, infer_integers));
  }
  table.push_back(fixed("And", 7, 2, infer_followed_logic<both_true>));
  table.push_back(fixed("Or", 7, 2, infer_followed_logic<one_true>));
  table.push_back(fixed("Xor", 7, 2, infer_followed_logic<compared<std::not_equal_to<>>>));
  table.push_back(fixed("Equal", 19, 2, infer_followed_comparison<std::equal_to<>>));
  table.push_back(fixed("Greater", 13, 2, infer_followed_comparison<std::greater<>>));
  table.push_back(fixed("Less", 13, 2, infer_followed_comparison<std::less<>>));
  table.push_back(fixed("GreaterOrEqual", 16, 2, infer_followed_comparison<std::greater_equal<>>));
  table.push_back(fixed("LessOrEqual", 16, 2, infer_followed_comparison<std::less_equal<>>));
  table.push_back(fixed("Where", 16, 3, infer_where));
  for (const char* name : {"Max", "Mean", "Min", "Sum"}) table.push_back(variadic(name, infer_broadcast));
  add_activation_operators(table);
}

}  // namespace hone::graph
