// The elementwise operations of pointwise chains, one line each. Formulas: reference/activations.hpp.
#include "device/cuda/plugin/kernels/pointwise/pointwise_program.hpp"

namespace hone::device::cuda {
namespace {

using enum PointwiseOperation::Kind;

constexpr PointwiseOperation kOperations[] = {
    {"Relu", 1, kNumber, "x < T(0) ? T(0) : x"},
    {"LeakyRelu", 1, kFloat, "x < 0.0f ? a * x : x"},
    {"Clip", 1, kNumber, "clip(x, a, b)"},
    {"Saturate", 1, kFloat, "x > a ? (x < b ? x : b) : a"},
    {"Sigmoid", 1, kFloat, "sigmoid(x)"},
    {"Tanh", 1, kFloat, "tanhf(x)"},
    {"HardSwish", 1, kFloat, "x * clip(x + 3.0f, 0.0f, 6.0f) * (1.0f / 6)"},
    {"HardSigmoid", 1, kFloat, "clip(a * x + b, 0.0f, 1.0f)"},
    {"Swish", 1, kFloat, "x * sigmoid(a * x)"},
    {"Elu", 1, kFloat, "x < 0.0f ? a * expm1f(x) : x"},
    {"Selu", 1, kFloat, "b * (x < 0.0f ? a * expm1f(x) : x)"},
    {"Celu", 1, kFloat, "x < 0.0f ? a * expm1f(x / a) : x"},
    {"GeluErf", 1, kFloat, "0.5f * x * (1.0f + erff(x * 0.707106781f))"},
    {"GeluTanh", 1, kFloat, "0.5f * x * (1.0f + tanhf(0.797884561f * (x + 0.044715f * x * x * x)))"},
    {"Softplus", 1, kFloat, "softplus(x)"},
    {"Mish", 1, kFloat, "x * tanhf(softplus(x))"},
    {"Softsign", 1, kFloat, "x / (1.0f + fabsf(x))"},
    {"ThresholdedRelu", 1, kFloat, "x > a ? x : 0.0f"},
    {"Shrink", 1, kFloat, "x < -b ? x + a : (x > b ? x - a : 0.0f)"},
    {"PRelu", 2, kNumber, "x < T(0) ? x * y : x"},
    {"Neg", 1, kNumber, "-x"},
    {"Abs", 1, kNumber, "x < T(0) || x == T(0) ? T(0) - x : x"},
    {"Sign", 1, kNumber, "x != x ? x : T((x > T(0)) - (x < T(0)))"},
    {"Exp", 1, kFloat, "expf(x)"},
    {"Log", 1, kFloat, "logf(x)"},
    {"Sqrt", 1, kFloat, "sqrtf(x)"},
    {"Reciprocal", 1, kFloat, "1.0f / x"},
    {"Erf", 1, kFloat, "erff(x)"},
    {"Sin", 1, kFloat, "sinf(x)"},
    {"Cos", 1, kFloat, "cosf(x)"},
    {"Tan", 1, kFloat, "tanf(x)"},
    {"Asin", 1, kFloat, "asinf(x)"},
    {"Acos", 1, kFloat, "acosf(x)"},
    {"Atan", 1, kFloat, "atanf(x)"},
    {"Sinh", 1, kFloat, "sinhf(x)"},
    {"Cosh", 1, kFloat, "coshf(x)"},
    {"Asinh", 1, kFloat, "asinhf(x)"},
    {"Acosh", 1, kFloat, "acoshf(x)"},
    {"Atanh", 1, kFloat, "atanhf(x)"},
    {"Floor", 1, kFloat, "floorf(x)"},
    {"Ceil", 1, kFloat, "ceilf(x)"},
    {"Round", 1, kFloat, "rintf(x)"},
    {"Identity", 1, kNumber, "x"},
    {"Constant", 1, kNumber, "a"},
    {"Add", 2, kNumber, "x + y"},
    {"Sub", 2, kNumber, "x - y"},
    {"ReverseSub", 2, kNumber, "y - x"},
    {"Mul", 2, kNumber, "x * y"},
    {"Div", 2, kNumber, "divide(x, y)"},
    {"Mod", 2, kNumber, "modulo(x, y)"},
    {"Fmod", 2, kNumber, "remainder_of(x, y)"},
    {"Pow", 2, kFloat, "powf(x, y)"},
    {"Sum", 0, kNumber, "x + y"},
    {"Max", 0, kNumber, "x < y || y != y ? y : x"},
    {"Min", 0, kNumber, "x > y || y != y ? y : x"},
    {"Equal", 2, kCompare, "x == y"},
    {"Greater", 2, kCompare, "x > y"},
    {"GreaterOrEqual", 2, kCompare, "x >= y"},
    {"Less", 2, kCompare, "x < y"},
    {"LessOrEqual", 2, kCompare, "x <= y"},
    {"IsNaN", 1, kTest, "x != x"},
    {"IsInf", 1, kTest, "(a != 0.0f && x == -infinity()) || (b != 0.0f && x == infinity())"},
    {"And", 2, kLogic, "x && y"},
    {"Or", 2, kLogic, "x || y"},
    {"Xor", 2, kLogic, "x != y"},
    {"Not", 1, kLogic, "!x"},
    {"BitwiseAnd", 2, kBits, "x & y"},
    {"BitwiseOr", 2, kBits, "x | y"},
    {"BitwiseXor", 2, kBits, "x ^ y"},
    {"BitwiseNot", 1, kBits, "~x"},
    {"Where", 3, kSelect, "x ? y : z"},
    {"Cast", 1, kCast, ""},
};

}  // namespace

std::span<const PointwiseOperation> pointwise_operations() { return kOperations; }

const PointwiseOperation* find_pointwise_operation(std::string_view name) {
  for (const PointwiseOperation& operation : kOperations) {
    if (operation.name == name) return &operation;
  }
  return nullptr;
}

}  // namespace hone::device::cuda
