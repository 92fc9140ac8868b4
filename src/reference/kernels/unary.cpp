// Reference kernels of the elementwise family: functions of one number, and conversions.
#include <algorithm>
#include <cmath>

#include "reference/kernels/map.hpp"
#include "reference/kernels/parts.hpp"

namespace hone::reference {
namespace {

template <double (*f)(double)>
void unary(KernelContext& context) {
  map_double(context, f);
}

double reciprocal(double x) { return 1 / x; }

void absolute(KernelContext& context) {
  map_compute(context, [](auto x) -> decltype(x) {
    if constexpr (std::is_same_v<decltype(x), double>) return std::abs(x);
    if constexpr (std::is_same_v<decltype(x), int64_t>) return x < 0 ? subtract(int64_t{0}, x) : x;
    return x;
  });
}

void negate(KernelContext& context) {
  map_compute(context, [](auto x) -> decltype(x) {
    if constexpr (std::is_same_v<decltype(x), double>) return -x;
    return subtract(decltype(x){0}, x);
  });
}

void sign(KernelContext& context) {
  map_compute(context, [](auto x) -> decltype(x) {
    if (x != x) return x;
    return x > 0 ? 1 : x == 0 ? decltype(x){0} : static_cast<decltype(x)>(-1);
  });
}

void bitwise_not(KernelContext& context) {
  map_compute(context, [](auto x) -> decltype(x) {
    if constexpr (std::is_same_v<decltype(x), double>)
      fail_bad_input("floating-point numbers have no bits to invert");
    else
      return ~x;
  });
}

void logical_not(KernelContext& context) {
  const Tensor& x = context.input(0);
  Tensor& y = context.make_output(0, DType::kBool, x.shape());
  const auto in = x.values<bool>();
  for (size_t i = 0; i < in.size(); ++i) y.mutable_values<bool>()[i] = !in[i];
}

/// Output 0 is true for every element that passes a test.
template <class F>
void test_floating(KernelContext& context, F&& f) {
  const Tensor x = context.input(0).cast(DType::kFloat64);
  Tensor& y = context.make_output(0, DType::kBool, x.shape());
  const auto out = y.mutable_values<bool>();
  for (size_t i = 0; i < out.size(); ++i) out[i] = f(x.values<double>()[i]);
}

void is_nan(KernelContext& context) {
  test_floating(context, [](double x) { return std::isnan(x); });
}

void is_inf(KernelContext& context) {
  const bool negative = context.attributes().get_int("detect_negative") != 0;
  const bool positive = context.attributes().get_int("detect_positive") != 0;
  test_floating(context, [&](double x) { return std::isinf(x) && (x < 0 ? negative : positive); });
}

void identity(KernelContext& context) { context.outputs[0] = context.input(0); }

void cast(KernelContext& context) {
  context.outputs[0] = context.input(0).cast(static_cast<DType>(context.attributes().get_int("to")));
}

void cast_like(KernelContext& context) {
  context.outputs[0] = context.input(0).cast(context.input(1).dtype());
}

void bit_cast(KernelContext& context) {
  const Tensor& x = context.input(0);
  Tensor& y = context.make_output(0, static_cast<DType>(context.attributes().get_int("to")), x.shape());
  if (y.dtype() == DType::kBool) {
    // A byte with any bit set is true; the bytes of a bool must be 0 or 1.
    std::transform(x.bytes(), x.bytes() + x.byte_size(), y.mutable_values<bool>().begin(),
                   [](std::byte b) { return b != std::byte{0}; });
  } else {
    std::copy(x.bytes(), x.bytes() + x.byte_size(), y.mutable_bytes());
  }
}

constexpr KernelEntry kKernels[] = {
    {"Abs", absolute},
    {"Acos", unary<std::acos>},
    {"Acosh", unary<std::acosh>},
    {"Asin", unary<std::asin>},
    {"Asinh", unary<std::asinh>},
    {"Atan", unary<std::atan>},
    {"Atanh", unary<std::atanh>},
    {"BitCast", bit_cast},
    {"BitwiseNot", bitwise_not},
    {"Cast", cast},
    {"CastLike", cast_like},
    {"Ceil", unary<std::ceil>},
    {"Cos", unary<std::cos>},
    {"Cosh", unary<std::cosh>},
    {"Erf", unary<std::erf>},
    {"Exp", unary<std::exp>},
    {"Floor", unary<std::floor>},
    {"Identity", identity},
    {"IsInf", is_inf},
    {"IsNaN", is_nan},
    {"Log", unary<std::log>},
    {"Neg", negate},
    {"Not", logical_not},
    {"Reciprocal", unary<reciprocal>},
    {"Round", unary<std::nearbyint>},  // halfway cases to even, the default rounding mode
    {"Sign", sign},
    {"Sin", unary<std::sin>},
    {"Sinh", unary<std::sinh>},
    {"Sqrt", unary<std::sqrt>},
    {"Tan", unary<std::tan>},
    {"Tanh", unary<std::tanh>},
};

}  // namespace

std::span<const KernelEntry> unary_kernels() { return kKernels; }

}  // namespace hone::reference
