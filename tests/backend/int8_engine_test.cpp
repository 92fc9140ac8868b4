// The int8 share that an engine reports, and which of two engines is kept: devices that multiply integers
// slowly, fast, or not at all.
#include "backend/hone/int8_engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "backend/hone/build_request.hpp"
#include "engine/fake_device.hpp"
#include "support/graph_builder.hpp"

namespace hone::backend {
namespace {

using tensor::Tensor;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int kLayers = 4;

/// Products of matrices with ReLU between, with Q/DQ or without.
std::shared_ptr<const graph::Graph> network(bool quantized) {
  test::GraphBuilder b;
  auto x = b.input("x", {4, 32});
  for (int i = 0; i < kLayers; ++i) {
    const auto scale = b.scalar(0.05F);
    const auto zero = b.constant(Tensor::scalar<uint8_t>(128));
    const auto weights = b.constant(Tensor::of<int8_t>(std::vector<int8_t>(32 * 32, 3), {32, 32}));
    if (quantized) {
      x = b.node("DequantizeLinear", {b.node("QuantizeLinear", {x, scale, zero}), scale, zero});
      x = b.node("MatMul", {x, b.node("DequantizeLinear", {weights, scale})});
    } else {
      x = b.node("MatMul", {x, b.random({32, 32})});
    }
  }
  return std::make_shared<const graph::Graph>(b.finish({x}));
}

engine::FakeDevice device_with(double integer_product_us) {
  engine::FakeDevice device({}, true);
  device.requested_passes = {"quantized_weights", "quantized_fusion"};
  device.times_us["onednn_bytes"] = integer_product_us;
  return device;
}

std::string note_of(const engine::Device& device, bool has_floats = true) {
  ResolvedBuild build{.device = device, .graph = network(true)};
  build.int8 = Int8Source{"calibration: generated", has_floats ? network(false) : nullptr};
  build.options.threads = 1;
  return backend::build(build)->metadata.at(kQuantizationNote);
}

TEST(Int8Engine, SaysWhatADeviceWithoutIntegersComputesInFloat) {
  const engine::FakeDevice device({}, true);
  EXPECT_EQ(note_of(device, false),
            "int8 in 0.0 % of the multiply-adds: what is quantized is computed in floating point on fake, "
            "calibration: generated");
}

TEST(Int8Engine, GivesWayToFloatsWhereNothingIsMultipliedAsIntegers) {
  const engine::FakeDevice device({}, true);
  EXPECT_EQ(
      note_of(device),
      "computed in fp32: int8 in 0.0 % of the multiply-adds would only add conversions on fake; its ranges "
      "are not used (calibration: generated)");
}

TEST(Int8Engine, IsKeptWhereItIsFaster) {
  const auto device = device_with(0.01);
  EXPECT_THAT(note_of(device),
              StartsWith("int8 in 100.0 % of the multiply-adds, calibration: generated; 0.0"));
  EXPECT_THAT(note_of(device), HasSubstr("in fp32 only"));
}

TEST(Int8Engine, GivesWayToFloatsThatAreFasterAsAWhole) {
  auto device = device_with(0.01);
  device.times_us["quantize"] = 100;
  EXPECT_THAT(note_of(device), StartsWith("computed in fp32, which is faster as a whole: 0.0"));
  EXPECT_EQ(note_of(device, false), "int8 in 100.0 % of the multiply-adds, calibration: generated")
      << "there is nothing to compare with";
}

/// One budget for both engines and the comparison.
TEST(Int8Engine, SharesTheTimeForItsBuildingWithItsRival) {
  constexpr double kSeconds = 3600;
  const auto device = device_with(0.01);
  ResolvedBuild build{.device = device, .graph = network(true)};
  build.int8 = Int8Source{"calibration: generated", network(false)};
  build.options.threads = 1;
  build.options.budget_seconds = kSeconds;
  std::vector<double> left;
  build.options.progress = [&](const base::Progress& progress) { left.push_back(progress.left_seconds); };
  const auto engine = backend::build(build);
  EXPECT_EQ(engine->cut_short, "");
  ASSERT_FALSE(left.empty());
  EXPECT_LE(left.front(), 0.5 * kSeconds);
  const double most = *std::ranges::max_element(left);
  EXPECT_GT(most, 0.5 * kSeconds) << "the second one has what the first one left over";
  EXPECT_LE(most, 0.9 * kSeconds);
}

TEST(Int8Engine, IsNotComparedWhereThereIsNoTime) {
  auto device = device_with(0.01);
  device.times_us["quantize"] = 100;
  ResolvedBuild build{.device = device, .graph = network(true)};
  build.int8 = Int8Source{"calibration: generated", network(false)};
  build.options.threads = 1;
  build.options.budget_seconds = 1e-9;
  const auto engine = backend::build(build);
  EXPECT_EQ(engine->metadata.at(kQuantizationNote),
            "int8 in 100.0 % of the multiply-adds, calibration: generated");
  EXPECT_THAT(engine->cut_short, testing::EndsWith("no engine without int8 was built to compare it with"));
}

TEST(Int8Engine, CountsTheProductsOfStepsAndNothingBeside) {
  test::GraphBuilder b;
  const auto scale = b.scalar(0.05F);
  const auto zero = b.constant(Tensor::scalar<uint8_t>(128));
  const auto quantized = [&](graph::ValueId x) {
    return b.node("DequantizeLinear", {b.node("QuantizeLinear", {x, scale, zero}), scale, zero});
  };
  const auto weights = b.constant(Tensor::of<int8_t>(std::vector<int8_t>(4 * 4, 3), {4, 4}));
  auto x = quantized(b.input("x", {4, 4}));
  // Elementwise operations are half of what the first step computes.
  auto y = b.node("MatMul", {x, b.node("DequantizeLinear", {weights, scale})});
  for (int i = 0; i < 4; ++i) y = b.node("Relu", {b.node("Add", {y, b.random({4})})});
  // Its weights are no constants, and it runs in floating point.
  const auto given = b.node("QuantizeLinear", {b.input("w", {4, 4}), scale, zero});
  y = b.node("MatMul", {quantized(y), b.node("DequantizeLinear", {given, scale, zero})});
  ResolvedBuild build{.device = device_with(0.01),
                      .graph = std::make_shared<const graph::Graph>(b.finish({y}))};
  build.int8 = Int8Source{"calibration: generated", nullptr};
  build.options.threads = 1;
  EXPECT_EQ(backend::build(build)->metadata.at(kQuantizationNote),
            "int8 in 50.0 % of the multiply-adds, 50.0 % more are quantized and computed in floating point, "
            "calibration: generated");
}

TEST(Int8Engine, SaysHowMuchOfWhatIsQuantizedIsNotMultipliedAsIntegers) {
  EXPECT_EQ(int8_note({0.9, 0.6}, "calibration: 8 samples", "cuda"),
            "int8 in 60.0 % of the multiply-adds, 30.0 % more are quantized and computed in floating point, "
            "calibration: 8 samples");
  EXPECT_EQ(int8_note({0, 0}, "calibration: 8 samples", "cuda"),
            "int8 in 0.0 % of the multiply-adds: nothing has a form that is multiplied as integers on cuda, "
            "calibration: 8 samples");
  EXPECT_EQ(int8_note({0.25, 0.25}, "quantized by the model", "cuda"),
            "int8 in 25.0 % of the multiply-adds, quantized by the model");
}

}  // namespace
}  // namespace hone::backend
