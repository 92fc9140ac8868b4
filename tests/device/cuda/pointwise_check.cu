// Checks of pointwise_jit.hpp.
#include <cmath>
#include <cstring>
#include <deque>
#include <functional>
#include <stdexcept>

#include "device/cuda/plugin/kernels/pointwise/pointwise_jit.hpp"
#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

using Function = std::function<double(double, double, double)>;

struct Operation {
  const char* name;
  int arguments;
  double alpha, beta, low, high;
  Function function;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double clip(double x, double low, double high) { return std::min(std::max(x, low), high); }

#define HONE_UNARY(name, low, high, expression)                                                    \
  {                                                                                                \
    name, 1, 0.75, 0.625, low, high, [](double x, double, double) -> double { return expression; } \
  }
#define HONE_BINARY(name, low, high, expression)                                              \
  {                                                                                           \
    name, 2, 0, 0, low, high, [](double x, double y, double) -> double { return expression; } \
  }

const std::vector<Operation>& operations() {
  static const std::vector<Operation> kAll = {
      HONE_UNARY("Relu", -2, 2, std::max(x, 0.0)),
      HONE_UNARY("LeakyRelu", -2, 2, x < 0 ? 0.75 * x : x),
      HONE_UNARY("Clip", -2, 2, clip(x, 0.75, 0.625)),
      HONE_UNARY("Sigmoid", -8, 8, sigmoid(x)),
      HONE_UNARY("Tanh", -4, 4, std::tanh(x)),
      HONE_UNARY("HardSwish", -5, 5, x * clip(x / 6 + 0.5, 0, 1)),
      HONE_UNARY("HardSigmoid", -2, 2, clip(0.75 * x + 0.625, 0, 1)),
      HONE_UNARY("Swish", -4, 4, x * sigmoid(0.75 * x)),
      HONE_UNARY("Elu", -4, 4, x < 0 ? 0.75 * std::expm1(x) : x),
      HONE_UNARY("Selu", -4, 4, 0.625 * (x < 0 ? 0.75 * std::expm1(x) : x)),
      HONE_UNARY("Celu", -4, 4, x < 0 ? 0.75 * std::expm1(x / 0.75) : x),
      HONE_UNARY("GeluErf", -4, 4, 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)))),
      HONE_UNARY("GeluTanh", -4, 4,
                 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)))),
      HONE_UNARY("Softplus", -4, 4, softplus(x)),
      HONE_UNARY("Mish", -4, 4, x * std::tanh(softplus(x))),
      HONE_UNARY("Softsign", -4, 4, x / (1 + std::abs(x))),
      HONE_UNARY("ThresholdedRelu", -2, 2, x > 0.75 ? x : 0),
      HONE_UNARY("Shrink", -2, 2,
                 x < -0.625  ? x + 0.75
                 : x > 0.625 ? x - 0.75
                             : 0),
      HONE_UNARY("Neg", -2, 2, -x),
      HONE_UNARY("Abs", -2, 2, std::abs(x)),
      HONE_UNARY("Sign", -2, 2, (x > 0) - (x < 0)),
      HONE_UNARY("Exp", -2, 2, std::exp(x)),
      HONE_UNARY("Log", 0.1, 4, std::log(x)),
      HONE_UNARY("Sqrt", 0, 4, std::sqrt(x)),
      HONE_UNARY("Reciprocal", 0.5, 4, 1 / x),
      HONE_UNARY("Erf", -3, 3, std::erf(x)),
      HONE_UNARY("Sin", -6, 6, std::sin(x)),
      HONE_UNARY("Cos", -6, 6, std::cos(x)),
      HONE_UNARY("Tan", -1, 1, std::tan(x)),
      HONE_UNARY("Asin", -0.9, 0.9, std::asin(x)),
      HONE_UNARY("Acos", -0.9, 0.9, std::acos(x)),
      HONE_UNARY("Atan", -4, 4, std::atan(x)),
      HONE_UNARY("Sinh", -2, 2, std::sinh(x)),
      HONE_UNARY("Cosh", -2, 2, std::cosh(x)),
      HONE_UNARY("Asinh", -4, 4, std::asinh(x)),
      HONE_UNARY("Acosh", 1.5, 4, std::acosh(x)),
      HONE_UNARY("Atanh", -0.9, 0.9, std::atanh(x)),
      HONE_UNARY("Floor", -4, 4, std::floor(x)),
      HONE_UNARY("Ceil", -4, 4, std::ceil(x)),
      HONE_UNARY("Round", -4, 4, std::nearbyint(x)),
      HONE_UNARY("Identity", -2, 2, x),
      HONE_UNARY("Constant", -2, 2, 0 * x + 0.75),
      HONE_BINARY("PRelu", -2, 2, x < 0 ? x * y : x),
      HONE_BINARY("Add", -2, 2, x + y),
      HONE_BINARY("Sub", -2, 2, x - y),
      HONE_BINARY("ReverseSub", -2, 2, y - x),
      HONE_BINARY("Mul", -2, 2, x * y),
      HONE_BINARY("Div", 0.5, 2, x / y),
      HONE_BINARY("Pow", 0.5, 2, std::pow(x, y)),
      HONE_BINARY("Fmod", 0.5, 4, std::fmod(x, y)),
      {"Sum", 3, 0, 0, -1, 1, [](double x, double y, double z) { return x + y + z; }},
      {"Max", 3, 0, 0, -1, 1, [](double x, double y, double z) { return std::max({x, y, z}); }},
      {"Min", 3, 0, 0, -1, 1, [](double x, double y, double z) {
         return std::min({x, y, z});
       }}};
  return kAll;
}

Storage storage(FloatType type) { return static_cast<Storage>(static_cast<int>(type)); }

/// Runs the program on `operands`; a throw is a failure.
void run(Family& family, const PointwiseProgram& program, const PointwiseGeometry& geometry,
         const std::vector<const void*>& inputs, const std::vector<void*>& outputs, const std::string& what) {
  try {
    family.launched(PointwiseKernel(program, geometry, gpu().architecture()).launch(inputs, outputs, {}),
                    what);
  } catch (const std::exception& error) {
    family.expect(false, what + ": " + error.what());
  }
}

void check_operation(Family& family, const Operation& operation, FloatType type) {
  constexpr int64_t kCount = 1040;
  std::deque<Values> operands;
  PointwiseProgram program;
  PointwiseGeometry geometry{{kCount}, {}};
  PointwiseStep step{operation.name, {}, operation.alpha, operation.beta};
  std::vector<const void*> inputs;
  for (int i = 0; i < operation.arguments; ++i) {
    operands.emplace_back(kCount, type, operation.low, operation.high);
    inputs.push_back(operands.back().get());
    program.operands.push_back(storage(type));
    geometry.strides.push_back({1});
    step.arguments.push_back(i);
  }
  program.steps = {step};
  program.results = {operation.arguments};
  program.outputs = {storage(type)};
  Output y(kCount, type);
  run(family, program, geometry, inputs, {y.get()}, operation.name);
  const auto operand = [&](size_t i, int64_t at) { return i < operands.size() ? operands[i][at] : 0; };
  for (int64_t i = 0; i < kCount; ++i) y[i] = operation.function(operand(0, i), operand(1, i), operand(2, i));
  // Library functions are right to a few ulp of intermediates below 8.
  family.compare(y, kFloatRoundoff * 64, operation.name);
}

/// clip(x * y + z) with operands of three different types and broadcasts.
void check_broadcast(Family& family, FloatType type, const PointwiseGeometry& geometry,
                     const std::string& what) {
  const PointwiseProgram program{{storage(type), Storage::kFloat, Storage::kHalf},
                                 {{"Mul", {0, 1}}, {"Add", {3, 2}}, {"Clip", {4}, -0.5, 0.75}},
                                 {5, 3},
                                 {storage(type), Storage::kFloat}};
  int64_t count = 1;
  for (const int64_t size : geometry.sizes) count *= size;
  const Values x(count, type), y(count, FloatType::kFloat), z(count, FloatType::kHalf);
  Output clipped(count, type), product(count, FloatType::kFloat);
  run(family, program, geometry, {x.get(), y.get(), z.get()}, {clipped.get(), product.get()}, what);
  for (int64_t i = 0; i < count; ++i) {
    int64_t at[3] = {0, 0, 0};
    int64_t rest = i;
    for (size_t d = geometry.sizes.size(); d-- > 0; rest /= geometry.sizes[d]) {
      for (size_t k = 0; k < 3; ++k) at[k] += rest % geometry.sizes[d] * geometry.strides[k][d];
    }
    product[i] = x[at[0]] * y[at[1]];
    clipped[i] = clip(product[i] + z[at[2]], -0.5, 0.75);
  }
  family.compare(clipped, 4 * kFloatRoundoff, what);
  family.compare(product, 4 * kFloatRoundoff, what);
}

template <class T>
void check_integers(Family& family, Storage type, const char* operation, T (*function)(T, T), T low, T high) {
  constexpr size_t kCount = 1000;
  std::uniform_int_distribution<int64_t> uniform(low, high);
  std::vector<T> x(kCount), y(kCount), out(kCount), expected(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    x[i] = static_cast<T>(uniform(generator()));
    do y[i] = static_cast<T>(uniform(generator()));
    while (y[i] == 0);
    expected[i] = function(x[i], y[i]);
  }
  DeviceBuffer a(kCount * sizeof(T)), b(kCount * sizeof(T)), c(kCount * sizeof(T));
  a.upload(x.data());
  b.upload(y.data());
  const PointwiseProgram program{{type, type}, {{operation, {0, 1}}}, {2}, {type}};
  run(family, program, {{kCount}, {{1}, {1}}}, {a.get(), b.get()}, {c.get()}, operation);
  c.download(out.data());
  family.expect(std::memcmp(out.data(), expected.data(), kCount * sizeof(T)) == 0,
                std::string("integer ") + operation);
}

/// where(x < y && !(x == z), cast<int8>(8 x), 3), through bool and integer values.
void check_logic(Family& family) {
  constexpr int64_t kCount = 777;
  const Values x(kCount, FloatType::kHalf), y(kCount, FloatType::kHalf);
  DeviceBuffer bytes(kCount), truths(kCount);
  const Values eight(std::vector<double>{8}, FloatType::kHalf);
  const PointwiseProgram program{{Storage::kHalf, Storage::kHalf, Storage::kHalf},
                                 {{"Less", {0, 1}},
                                  {"Equal", {0, 2}},
                                  {"Not", {4}},
                                  {"And", {3, 5}},
                                  {"Mul", {0, 2}},
                                  {"Cast", {7}, 0, 0, Storage::kInt8},
                                  {"Constant", {8}, 3},
                                  {"Where", {6, 8, 9}}},
                                 {10, 6},
                                 {Storage::kInt8, Storage::kBool}};
  run(family, program, {{kCount}, {{1}, {1}, {0}}}, {x.get(), y.get(), eight.get()},
      {bytes.get(), truths.get()}, "logic");
  std::vector<signed char> values(kCount), flags(kCount);
  bytes.download(values.data());
  truths.download(flags.data());
  bool good = true;
  for (int64_t i = 0; i < kCount; ++i) {
    const bool less = x[i] < y[i];
    good = good && flags[static_cast<size_t>(i)] == (less ? 1 : 0) &&
           values[static_cast<size_t>(i)] == (less ? static_cast<int>(8 * x[i]) : 3);
  }
  family.expect(good, "logic");
}

/// Rounded to bytes: halves go to even numbers, what lies outside to the nearest end, NaN to the lowest.
void check_quantization(Family& family) {
  const std::vector<double> from = {-1000, -128.5, -2.5, -1.5,  0.5,         1.5,
                                    126.5, 127.5,  1e30, -1e30, std::nan("")};
  const signed char wanted[] = {-128, -128, -2, -2, 0, 2, 126, 127, 127, -128, -128};
  const Values x(from, FloatType::kFloat);
  const auto count = static_cast<int64_t>(from.size());
  DeviceBuffer result(from.size());
  const PointwiseProgram program{
      {Storage::kFloat}, {{"Round", {0}}, {"Saturate", {1}, -128, 127}}, {2}, {Storage::kInt8}};
  const std::vector<const void*> inputs = {x.get()};
  const std::vector<void*> outputs = {result.get()};
  run(family, program, {{count}, {{1}}}, inputs, outputs, "quantization");
  std::vector<signed char> found(from.size());
  result.download(found.data());
  family.expect(std::equal(found.begin(), found.end(), wanted), "quantized values");
}

/// A value outside an integer type becomes its nearest end, NaN becomes 0.
template <class T>
void check_cast(Family& family, Storage type, const std::vector<T>& wanted) {
  const Values x({300, -5.75, 2.5, 1e30, -1e30, std::nan("")}, FloatType::kFloat);
  DeviceBuffer result(wanted.size() * sizeof(T));
  PointwiseStep cast{"Cast", {0}};
  cast.to = type;
  run(family, {{Storage::kFloat}, {cast}, {1}, {type}}, {{6}, {{1}}}, {x.get()}, {result.get()}, "a cast");
  std::vector<T> found(wanted.size());
  result.download(found.data());
  family.expect(found == wanted, "cast to " + std::to_string(8 * sizeof(T)) + " bits");
}

void check_casts(Family& family) {
  check_cast<signed char>(family, Storage::kInt8, {127, -5, 2, 127, -128, 0});
  check_cast<unsigned char>(family, Storage::kUint8, {255, 0, 2, 255, 0, 0});
  check_cast<int16_t>(family, Storage::kInt16, {300, -5, 2, 32767, -32768, 0});
  check_cast<uint16_t>(family, Storage::kUint16, {300, 0, 2, 65535, 0, 0});
  check_cast<int32_t>(family, Storage::kInt32, {300, -5, 2, INT32_MAX, INT32_MIN, 0});
  check_cast<uint32_t>(family, Storage::kUint32, {300, 0, 2, UINT32_MAX, 0, 0});
  check_cast<int64_t>(family, Storage::kInt64, {300, -5, 2, INT64_MAX, INT64_MIN, 0});
}

void check_refusals(Family& family) {
  const auto refuses = [&](const PointwiseProgram& program, const PointwiseGeometry& geometry) {
    try {
      pointwise_source(program, geometry);
    } catch (const std::invalid_argument&) {
      return true;
    }
    return false;
  };
  const PointwiseGeometry line{{8}, {{1}}};
  constexpr Storage kFloat = Storage::kFloat;
  family.expect(refuses({{kFloat}, {{"NoSuch", {0}}}, {1}, {kFloat}}, line), "unknown operation");
  family.expect(refuses({{kFloat}, {{"Add", {0}}}, {1}, {kFloat}}, line), "missing argument");
  family.expect(refuses({{kFloat}, {{"Relu", {3}}}, {1}, {kFloat}}, line), "argument from nowhere");
  family.expect(refuses({{kFloat}, {{"Not", {0}}}, {1}, {kFloat}}, line), "logic on numbers");
  family.expect(refuses({{kFloat}, {{"Relu", {0}}}, {5}, {kFloat}}, line), "result from nowhere");
  family.expect(refuses({{kFloat}, {{"Relu", {0}}}, {1}, {kFloat}}, {{8}, {{1, 1}}}), "wrong rank");
}

}  // namespace

void check_pointwise() {
  Family family("pointwise");
  for (const FloatType type : kFloatTypes) {
    for (const Operation& operation : operations()) check_operation(family, operation, type);
    check_broadcast(family, type, {{2, 35, 24}, {{840, 24, 1}, {0, 0, 1}, {24, 0, 1}}}, "channels");
    check_broadcast(family, type, {{2, 6, 35}, {{210, 35, 1}, {0, 1, 0}, {1, 0, 0}}}, "planes");
    check_broadcast(family, type, {{3, 7, 5}, {{1, 3, 21}, {35, 5, 1}, {0, 0, 1}}}, "transposed");
    check_broadcast(family, type, {{1031}, {{1}, {1}, {0}}}, "odd");
    check_broadcast(family, type, {{4, 64}, {{64, 1}, {64, 1}, {64, 1}}, false}, "not aligned");
    check_broadcast(family, type,
                    {{2, 1, 2, 3, 1, 2, 2, 8},
                     {{192, 192, 96, 32, 32, 16, 8, 1}, {0, 0, 8, 0, 0, 0, 0, 1}, {2, 0, 1, 0, 0, 4, 0, 0}}},
                    "rank 8");
    check_broadcast(family, type, {{0, 8}, {{8, 1}, {0, 1}, {0, 0}}}, "empty");
  }
  check_integers<int32_t>(
      family, Storage::kInt32, "Add", [](int32_t a, int32_t b) { return a + b; }, -1000, 1000);
  check_integers<int64_t>(
      family, Storage::kInt64, "Mul", [](int64_t a, int64_t b) { return a * b; }, -1000, 1000);
  check_integers<int8_t>(
      family, Storage::kInt8, "Sub", [](int8_t a, int8_t b) { return static_cast<int8_t>(a - b); }, -128,
      127);
  check_integers<uint8_t>(
      family, Storage::kUint8, "Div", [](uint8_t a, uint8_t b) { return static_cast<uint8_t>(a / b); }, 0,
      255);
  check_integers<int16_t>(
      family, Storage::kInt16, "Mod",
      [](int16_t a, int16_t b) { return static_cast<int16_t>(((a % b) + b) % b); }, -99, 99);
  check_integers<uint16_t>(
      family, Storage::kUint16, "BitwiseXor",
      [](uint16_t a, uint16_t b) { return static_cast<uint16_t>(a ^ b); }, 0, 65535);
  check_integers<uint32_t>(
      family, Storage::kUint32, "BitwiseAnd", [](uint32_t a, uint32_t b) { return a & b; }, 0, 4294967295u);
  check_quantization(family);
  check_casts(family);
  check_logic(family);
  check_refusals(family);
}

}  // namespace hone::device::cuda::check
