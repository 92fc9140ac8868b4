// Reference kernels of the elementwise family: arithmetic and bits of two or more broadcast inputs.
#include <cmath>

#include "reference/kernels/map.hpp"
#include "reference/kernels/parts.hpp"

namespace hone::reference {
namespace {

// Each operation works in one compute type: double, int64_t or uint64_t.
struct Add {
  auto operator()(auto a, auto b) const { return add(a, b); }
};
struct Subtract {
  auto operator()(auto a, auto b) const { return subtract(a, b); }
};
struct Multiply {
  auto operator()(auto a, auto b) const { return multiply(a, b); }
};

/// Throws bad input for an integer division by zero.
void require_divisor(auto b) {
  if (b == 0) fail_bad_input("an integer is divided by zero");
}

struct Divide {
  double operator()(double a, double b) const { return a / b; }
  uint64_t operator()(uint64_t a, uint64_t b) const {
    require_divisor(b);
    return a / b;
  }
  int64_t operator()(int64_t a, int64_t b) const {
    require_divisor(b);
    return b == -1 ? subtract(int64_t{0}, a) : a / b;
  }
};

/// The remainder with the sign of the dividend, as in C.
struct TruncatedRemainder {
  double operator()(double a, double b) const { return std::fmod(a, b); }
  uint64_t operator()(uint64_t a, uint64_t b) const {
    require_divisor(b);
    return a % b;
  }
  int64_t operator()(int64_t a, int64_t b) const {
    require_divisor(b);
    return b == -1 ? 0 : a % b;
  }
};

/// The remainder with the sign of the divisor, as in Python; for integers only.
struct FlooredRemainder {
  double operator()(double, double) const {
    fail_bad_input("floating-point inputs need attribute 'fmod' to be 1");
  }
  uint64_t operator()(uint64_t a, uint64_t b) const { return TruncatedRemainder()(a, b); }
  int64_t operator()(int64_t a, int64_t b) const {
    const int64_t remainder = TruncatedRemainder()(a, b);
    return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
  }
};

struct Minimum {
  auto operator()(auto a, auto b) const { return a != a || a < b ? a : b; }
};
struct Maximum {
  auto operator()(auto a, auto b) const { return a != a || a > b ? a : b; }
};

template <class F>
struct Bits {
  double operator()(double, double) const {
    fail_bad_input("floating-point numbers have no bits to combine");
  }
  uint64_t operator()(uint64_t a, uint64_t b) const { return F()(a, b); }
  int64_t operator()(int64_t a, int64_t b) const { return F()(a, b); }
};

struct ShiftLeft {
  template <class T>
  T operator()(T a, T b) const {
    return b >= 64 ? 0 : static_cast<T>(static_cast<uint64_t>(a) << b);
  }
};
struct ShiftRight {
  template <class T>
  T operator()(T a, T b) const {
    return b >= 64 ? 0 : a >> b;
  }
};

template <class F>
void binary(KernelContext& context) {
  context.outputs[0] = broadcast_compute(context.input(0), context.input(1), F());
}

void modulo(KernelContext& context) {
  if (context.attributes().get_int("fmod") != 0) return binary<TruncatedRemainder>(context);
  binary<FlooredRemainder>(context);
}

void bit_shift(KernelContext& context) {
  const DType dtype = context.input(0).dtype();
  if (dtype == DType::kInt8 || dtype == DType::kInt16 || dtype == DType::kInt32 || dtype == DType::kInt64) {
    fail_bad_input("bits of {} cannot be shifted, only unsigned integers", tensor::dtype_name(dtype));
  }
  if (context.attributes().get_string("direction") == "LEFT") return binary<Bits<ShiftLeft>>(context);
  binary<Bits<ShiftRight>>(context);
}

int64_t integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return static_cast<int64_t>(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  int64_t result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = multiply(result, base);
    base = multiply(base, base);
  }
  return result;
}

/// Base and exponent may differ in type; the result has the type of the base.
void power(KernelContext& context) {
  const Tensor& base = context.input(0);
  const Tensor& exponent = context.input(1);
  if (tensor::is_integer(base.dtype()) && tensor::is_integer(exponent.dtype())) {
    context.outputs[0] =
        broadcast<int64_t, int64_t>(base.cast(DType::kInt64), exponent.cast(DType::kInt64), integer_power)
            .cast(base.dtype());
    return;
  }
  context.outputs[0] = broadcast<double, double>(base.cast(DType::kFloat64), exponent.cast(DType::kFloat64),
                                                 [](double a, double b) { return std::pow(a, b); })
                           .cast(base.dtype());
}

/// Combines all inputs from left to right in the compute type.
template <class F>
Tensor fold(const KernelContext& context) {
  Tensor result = widened(context.input(0));
  for (size_t i = 1; i < context.inputs.size(); ++i) {
    require_same_dtype(context.input(0), context.input(i));
    result = broadcast_compute(result, widened(context.input(i)), F());
  }
  return result;
}

template <class F>
void variadic(KernelContext& context) {
  context.outputs[0] = fold<F>(context).cast(context.input(0).dtype());
}

void mean(KernelContext& context) {
  Tensor sum = fold<Add>(context).cast(DType::kFloat64);
  const Tensor count = Tensor::scalar(static_cast<double>(context.inputs.size()));
  context.outputs[0] = broadcast_compute(sum, count, Divide()).cast(context.input(0).dtype());
}

constexpr KernelEntry kKernels[] = {
    {"Add", binary<Add>},
    {"BitShift", bit_shift},
    {"BitwiseAnd", binary<Bits<std::bit_and<>>>},
    {"BitwiseOr", binary<Bits<std::bit_or<>>>},
    {"BitwiseXor", binary<Bits<std::bit_xor<>>>},
    {"Div", binary<Divide>},
    {"Max", variadic<Maximum>},
    {"Mean", mean},
    {"Min", variadic<Minimum>},
    {"Mod", modulo},
    {"Mul", binary<Multiply>},
    {"Pow", power},
    {"Sub", binary<Subtract>},
    {"Sum", variadic<Add>},
};

}  // namespace

std::span<const KernelEntry> arithmetic_kernels() { return kKernels; }

}  // namespace hone::reference
