// Elementwise kernels where C++, numpy and ONNX could disagree: integer division, remainders, rounding, NaN,
// mixed types, broadcasting.
#include <cmath>
#include <limits>

#include "reference/single_node.hpp"

namespace hone::reference {
namespace {

using tensor::BFloat16;
using tensor::DType;
using tensor::Half;
using tensor::Tensor;

template <class T>
std::vector<T> list(const Tensor& tensor) {
  const auto values = tensor.values<T>();
  return {values.begin(), values.end()};
}

template <class T>
std::vector<T> binary(const char* op, std::vector<T> a, std::vector<T> b) {
  return list<T>(run_single_node(node_of(op), {Tensor::of(a, {static_cast<int64_t>(a.size())}),
                                               Tensor::of(b, {static_cast<int64_t>(b.size())})})[0]);
}

TEST(Elementwise, IntegerDivisionTruncates) {
  EXPECT_EQ(binary<int32_t>("Div", {7, -7, 7, INT32_MIN}, {2, 2, -2, -1}),
            (std::vector<int32_t>{3, -3, -3, INT32_MIN}));
  EXPECT_EQ(binary<int64_t>("Div", {INT64_MIN}, {-1}), (std::vector<int64_t>{INT64_MIN}));
}

TEST(Elementwise, IntegerDivisionByZeroIsRefused) {
  const Tensor one = Tensor::of<int64_t>({1}, {1});
  const Tensor zero = Tensor::of<int64_t>({0}, {1});
  EXPECT_NE(refusal(node_of("Div"), {one, zero}), "");
  EXPECT_NE(refusal(node_of("Mod"), {one, zero}), "");
}

TEST(Elementwise, RemainderSignFollowsDivisorOrDividend) {
  const Tensor a = Tensor::of<int32_t>({-4, 7, 5, 4, -7, 8}, {6});
  const Tensor b = Tensor::of<int32_t>({2, -3, 8, -2, 3, 5}, {6});
  EXPECT_EQ(list<int32_t>(run_single_node(node_of("Mod"), {a, b})[0]),
            (std::vector<int32_t>{0, -2, 5, 0, 2, 3}));
  EXPECT_EQ(list<int32_t>(run_single_node(node_of("Mod", {{"fmod", int64_t{1}}}), {a, b})[0]),
            (std::vector<int32_t>{0, 1, 5, 0, -1, 3}));
}

TEST(Elementwise, IntegersWrapAround) {
  EXPECT_EQ(binary<uint8_t>("Add", {250}, {10}), (std::vector<uint8_t>{4}));
  EXPECT_EQ(binary<int8_t>("Mul", {100}, {3}), (std::vector<int8_t>{44}));
  EXPECT_EQ(binary<int64_t>("Sub", {INT64_MIN}, {1}), (std::vector<int64_t>{INT64_MAX}));
}

TEST(Elementwise, UnsignedValuesAboveTheSignedRangeKeepTheirOrder) {
  const uint64_t large = UINT64_MAX - 1;
  EXPECT_EQ(binary<uint64_t>("Max", {large}, {3}), (std::vector<uint64_t>{large}));
  EXPECT_EQ(binary<uint64_t>("Div", {large}, {2}), (std::vector<uint64_t>{large / 2}));
}

TEST(Elementwise, RoundsHalfwayCasesToEven) {
  const auto y =
      run_single_node(node_of("Round"), {Tensor::of<float>({0.5f, 1.5f, 2.5f, -0.5f, -2.5f}, {5})});
  EXPECT_EQ(list<float>(y[0]), (std::vector<float>{0, 2, 2, 0, -2}));
}

TEST(Elementwise, NanPassesThroughMinMaxAndClip) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const char* op : {"Max", "Min"}) {
    const auto y = binary<float>(op, {nan, 1}, {1, nan});
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1])) << op;
  }
  const auto y = run_single_node(
      node_of("Clip"), {Tensor::of<float>({nan, 9}, {2}), Tensor::scalar(0.0f), Tensor::scalar(6.0f)});
  EXPECT_TRUE(std::isnan(list<float>(y[0])[0]));
  EXPECT_EQ(list<float>(y[0])[1], 6);
}

TEST(Elementwise, ClipWorksOnIntegersAndWithoutBounds) {
  const Tensor x = Tensor::of<int8_t>({-128, 0, 127}, {3});
  EXPECT_EQ(list<int8_t>(run_single_node(node_of("Clip"), {x, Tensor::scalar<int8_t>(-5)})[0]),
            (std::vector<int8_t>{-5, 0, 127}));
  EXPECT_EQ(list<int8_t>(run_single_node(node_of("Clip"), {x})[0]), (std::vector<int8_t>{-128, 0, 127}));
}

TEST(Elementwise, PowerMixesTypesAndKeepsTheBases) {
  const auto y =
      run_single_node(node_of("Pow"), {Tensor::of<int64_t>({3, 2}, {2}), Tensor::of<float>({3, 0.5f}, {2})});
  EXPECT_EQ(list<int64_t>(y[0]), (std::vector<int64_t>{27, 1}));
  EXPECT_EQ(binary<int64_t>("Pow", {3}, {39}), (std::vector<int64_t>{4052555153018976267}));
}

TEST(Elementwise, FactorsOfIntegerProductsAreCutToTheirRange) {
  const Tensor one = Tensor::of<int64_t>({1}, {1, 1});
  EXPECT_EQ(list<int64_t>(run_single_node(node_of("Gemm", {{"alpha", 2.5f}}), {one, one})[0]),
            (std::vector<int64_t>{2}));
  EXPECT_EQ(list<int64_t>(run_single_node(node_of("Gemm", {{"alpha", 1e30f}}), {one, one})[0]),
            (std::vector<int64_t>{INT64_MAX}));
}

TEST(Elementwise, BroadcastsBothWays) {
  const auto y = run_single_node(node_of("Add"), {ramp({3, 1}), ramp({1, 2}, 10, 10)});
  EXPECT_EQ(y[0].shape(), (tensor::Shape{3, 2}));
  EXPECT_EQ(list<float>(y[0]), (std::vector<float>{10, 20, 11, 21, 12, 22}));
  EXPECT_NE(refusal(node_of("Add"), {ramp({3}), ramp({2})}), "");
}

TEST(Elementwise, SixteenBitFloatsAreRoundedOnce) {
  const Tensor a = Tensor::of<BFloat16>({BFloat16(1.0f)}, {1});
  const Tensor b = Tensor::of<BFloat16>({BFloat16(0x1p-8f)}, {1});
  EXPECT_EQ(static_cast<float>(list<BFloat16>(run_single_node(node_of("Add"), {a, b})[0])[0]), 1.0f);
  const Tensor h = Tensor::of<Half>({Half(300.0f)}, {1});
  EXPECT_TRUE(std::isinf(static_cast<float>(list<Half>(run_single_node(node_of("Mul"), {h, h})[0])[0])));
}

TEST(Elementwise, TypesMustAgree) {
  EXPECT_NE(refusal(node_of("Add"), {ramp({1}), Tensor::of<double>({1}, {1})}), "");
  EXPECT_NE(refusal(node_of("Sqrt"), {Tensor::of<int32_t>({1}, {1})}), "");
  EXPECT_NE(refusal(node_of("And"), {ramp({1}), ramp({1})}), "");
}

TEST(Elementwise, SlopeMayNotBeLargerThanTheInput) {
  EXPECT_NE(refusal(node_of("PRelu"), {ramp({3}), ramp({2, 3})}), "");
  const auto y = run_single_node(node_of("PRelu"), {ramp({2, 2}, -2), ramp({2, 1}, 1)});
  EXPECT_EQ(list<float>(y[0]), (std::vector<float>{-2, -1, 0, 1}));
}

TEST(Elementwise, ShiftsPastTheWidthGiveZero) {
  const auto shift = [](const char* direction, uint8_t a, uint8_t b) {
    const auto node = node_of("BitShift", {{"direction", std::string(direction)}});
    return list<uint8_t>(
        run_single_node(node, {Tensor::of<uint8_t>({a}, {1}), Tensor::of<uint8_t>({b}, {1})})[0])[0];
  };
  EXPECT_EQ(shift("LEFT", 3, 7), 128);
  EXPECT_EQ(shift("LEFT", 3, 200), 0);
  EXPECT_EQ(shift("RIGHT", 255, 64), 0);
}

TEST(Elementwise, DropoutInTrainingIsRefusedUnlessItDropsNothing) {
  const Tensor training = Tensor::of<bool>({true}, {});
  EXPECT_NE(refusal(node_of("Dropout"), {ramp({4}), Tensor::scalar(0.5f), training}), "");
  const auto y = run_single_node(node_of("Dropout"), {ramp({4}), Tensor::scalar(0.0f), training}, 2);
  EXPECT_EQ(list<float>(y[0]), (std::vector<float>{0, 1, 2, 3}));
  EXPECT_EQ(list<bool>(y[1]), (std::vector<bool>{true, true, true, true}));
}

}  // namespace
}  // namespace hone::reference
