// Elementwise operators, activations and reductions of the torch backends against the reference kernels.
#include "backend/torch_support.hpp"

namespace hone::test {
namespace {

const Shape kShape{2, 4, 5, 3};

TEST(TorchOperators, UnaryFunctions) {
  for (const char* op : {"Abs", "Atan", "Ceil", "Cos", "Cosh", "Erf", "Exp", "Floor", "Identity", "Neg",
                         "Reciprocal", "Round", "Sign", "Sin", "Sinh", "Tan", "Tanh", "Asinh"}) {
    expect_covered({.op = op, .shape = kShape});
  }
  for (const char* op : {"Log", "Sqrt"}) expect_covered({.op = op, .shape = kShape, .low = 0.1});
  for (const char* op : {"Acos", "Asin", "Atanh"}) {
    expect_covered({.op = op, .shape = kShape, .low = -0.9, .high = 0.9});
  }
  expect_covered({.op = "Acosh", .shape = kShape, .low = 1.1, .high = 4});
  expect_covered({.op = "Not", .shape = kShape, .dtype = DType::kBool});
  expect_covered({.op = "IsNaN", .shape = kShape});
  expect_covered({.op = "BitwiseNot", .shape = kShape, .low = -90, .high = 90, .dtype = DType::kInt32});
}

TEST(TorchOperators, Casts) {
  for (const DType to : {DType::kInt32, DType::kInt64, DType::kFloat64, DType::kUInt8, DType::kBool}) {
    expect_covered({.op = "Cast",
                    .shape = kShape,
                    .attributes = {{"to", static_cast<int64_t>(to)}},
                    .low = 0,
                    .high = 9});
  }
}

TEST(TorchOperators, Activations) {
  for (const char* op : {"Relu", "Sigmoid", "Softplus", "HardSwish", "Mish", "LeakyRelu", "Elu", "Selu",
                         "Celu", "HardSigmoid", "Gelu", "Softmax", "LogSoftmax"}) {
    expect_covered({.op = op, .shape = kShape});
  }
  expect_covered({.op = "Gelu", .shape = kShape, .attributes = {{"approximate", std::string("tanh")}}});
  expect_covered({.op = "Softmax", .shape = kShape, .attributes = {{"axis", int64_t{1}}}});
  expect_covered({.op = "LeakyRelu", .shape = kShape, .attributes = {{"alpha", 0.3f}}});
  expect_covered({.op = "HardSigmoid", .shape = kShape, .attributes = {{"alpha", 1.0f / 6.0f}}});
  expect_covered({.op = "PRelu", .shape = kShape, .more = with_random({{4, 1, 1}})});
}

TEST(TorchOperators, Clips) {
  const auto bounds = [](float low, float high) {
    return [=](GraphBuilder& b) { return std::vector<ValueId>{b.scalar(low), b.scalar(high)}; };
  };
  expect_covered({.op = "Clip", .shape = kShape, .more = bounds(0, 6), .high = 9});
  expect_covered({.op = "Clip", .shape = kShape, .more = bounds(-0.5f, 0.25f)});
  expect_covered({.op = "Clip", .shape = kShape, .more = [](GraphBuilder& b) {
                    return std::vector<ValueId>{kNoValue, b.scalar(0.5f)};
                  }});
  expect_covered({.op = "Clip", .shape = kShape});
}

TEST(TorchOperators, BinaryFunctions) {
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Sum", "Mean"}) {
    expect_covered({.op = op, .shape = kShape, .more = with_random({{4, 1, 3}})});
  }
  expect_covered({.op = "Pow", .shape = kShape, .more = with_random({{5, 1}}), .low = 0.1});
  for (const char* op : {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}) {
    expect_covered({.op = op, .shape = kShape, .more = with_random({{4, 5, 3}})});
  }
  expect_covered(
      {.op = "Mod", .shape = kShape, .attributes = {{"fmod", int64_t{1}}}, .more = with_random({{3}})});
}

TEST(TorchOperators, IntegerArithmetic) {
  const auto divisors = [](GraphBuilder& b) { return std::vector<ValueId>{b.ints({-3, 2, 7})}; };
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "BitwiseAnd", "BitwiseOr",
                         "BitwiseXor", "Equal", "Less"}) {
    expect_covered(
        {.op = op, .shape = {4, 3}, .more = divisors, .low = -20, .high = 20, .dtype = DType::kInt64});
  }
}

TEST(TorchOperators, LogicAndWhere) {
  const auto mask = [](GraphBuilder& b) {
    return b.constant(random_tensor({4, 1, 3}, 5, 0, 2).cast(DType::kInt32).cast(DType::kBool));
  };
  for (const char* op : {"And", "Or", "Xor"}) {
    expect_covered({.op = op,
                    .shape = kShape,
                    .more = [&](GraphBuilder& b) { return std::vector<ValueId>{mask(b)}; },
                    .dtype = DType::kBool});
  }
  expect_covered({.op = "Where",
                  .shape = kShape,
                  .more =
                      [](GraphBuilder& b) {
                        return std::vector<ValueId>{b.random({4, 1, 3}), b.random({1, 5, 1})};
                      },
                  .low = 0,
                  .dtype = DType::kBool});
}

TEST(TorchOperators, Reductions) {
  for (const char* op : {"ReduceL1", "ReduceL2", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin",
                         "ReduceProd", "ReduceSum", "ReduceSumSquare", "ReduceLogSum"}) {
    expect_covered({.op = op, .shape = kShape, .more = with_ints({1, -1}), .low = 0.5});
    expect_covered({.op = op, .shape = kShape, .attributes = {{"keepdims", int64_t{0}}}, .low = 0.5});
  }
  for (const char* op : {"ArgMax", "ArgMin"}) {
    expect_covered({.op = op, .shape = kShape, .attributes = {{"axis", int64_t{1}}}});
    expect_covered({.op = op,
                    .shape = kShape,
                    .attributes = {{"axis", int64_t{-1}}, {"select_last_index", int64_t{1}}},
                    .low = 0,
                    .high = 2,
                    .dtype = DType::kInt32});
  }
  expect_covered({.op = "TopK", .shape = kShape, .more = with_ints({2}), .outputs = 2});
  expect_covered({.op = "TopK",
                  .shape = {3, 40},
                  .attributes = {{"largest", int64_t{0}}},
                  .more = with_ints({7}),
                  .outputs = 2,
                  .low = 0,
                  .high = 5,
                  .dtype = DType::kInt32});
  const auto axis = [](GraphBuilder& b) {
    return std::vector<ValueId>{b.constant(Tensor::scalar<int64_t>(1))};
  };
  expect_covered({.op = "CumSum", .shape = kShape, .more = axis});
  expect_covered({.op = "CumSum",
                  .shape = kShape,
                  .attributes = {{"exclusive", int64_t{1}}, {"reverse", int64_t{1}}},
                  .more = axis});
}

}  // namespace
}  // namespace hone::test
