// Numeric policies: what precisions become on a device, and what a device lacks.
#include "engine/numeric_policy.hpp"

#include <gtest/gtest.h>

#include "device/cpu/cpu_device.hpp"
#include "engine/builder.hpp"
#include "engine/context.hpp"
#include "engine/fake_device.hpp"
#include "support/equivalence.hpp"

namespace hone::engine {
namespace {

const std::vector<NumericPolicy> kAll = {policy_of(Precision::kFp32), policy_of(Precision::kTf32),
                                         policy_of(Precision::kFp16), policy_of(Precision::kBf16),
                                         emulated_bf16()};

/// The CPU's, which lacks bf16 whatever the processor has.
class WithoutBf16 final : public FakeDevice {
 public:
  using FakeDevice::FakeDevice;
  bool computes_in(Precision precision) const override { return precision == Precision::kFp32; }
};

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    return error.what();
  }
  return "";
}

TEST(NumericPolicy, IsFoundByItsName) {
  for (const NumericPolicy& policy : kAll) EXPECT_EQ(parse_policy(policy_name(policy)), policy);
  EXPECT_EQ(policies_text(kAll), "fp32+tf32+fp16+bf16+bf16-emulated");
  EXPECT_EQ(precision_of(emulated_bf16()), Precision::kBf16);
  EXPECT_THROW(parse_policy("fp12"), Error);
  EXPECT_EQ(refusal([] { policy_of(Precision::kInt8); }),
            "no floating-point value has precision int8; hone quantize makes a model whose products do");
}

TEST(NumericPolicy, TheCoarsestOfSeveralBoundsTheError) {
  EXPECT_EQ(coarsest_precision(std::vector{kAll[0]}), Precision::kFp32);
  EXPECT_EQ(coarsest_precision(std::vector{kAll[0], kAll[2], kAll[1]}), Precision::kFp16);
  EXPECT_EQ(coarsest_precision(std::vector{kAll[4], kAll[2]}), Precision::kBf16);
}

TEST(NumericPolicy, WhatADeviceLacksIsRefusedButBf16IsEmulated) {
  const WithoutBf16 device({}, false);
  EXPECT_EQ(device.policy_for(Precision::kFp32), policy_of(Precision::kFp32));
  EXPECT_EQ(device.policy_for(Precision::kBf16), emulated_bf16());
  EXPECT_TRUE(device.runs(emulated_bf16()));
  EXPECT_FALSE(device.runs(policy_of(Precision::kBf16)));
  EXPECT_FALSE(device.runs(policy_of(Precision::kFp16)));
  EXPECT_EQ(refusal([&] { device.policy_for(Precision::kFp16); }),
            "the device fake does not run in fp16; choose one of fp32, bf16");
  EXPECT_EQ(device::cpu::cpu_device().notes(emulated_bf16()).size(), 1u) << "whoever reads its times is told";
  EXPECT_TRUE(device::cpu::cpu_device().notes(policy_of(Precision::kFp32)).empty());
}

TEST(NumericPolicy, EmulatedBf16KeepsWhatBf16Holds) {
  const WithoutBf16 device({}, false);
  test::GraphBuilder b;
  const auto product = b.node("MatMul", {b.input("x", {4, 24}), b.random({24, 16})});
  const auto graph = b.finish({b.node("Sigmoid", {b.node("Add", {product, b.random({16})})})});
  BuildOptions options;
  options.precision = Precision::kBf16;
  options.optimization_level = 0;
  const auto engine = build_engine(graph, device, options);
  EXPECT_EQ(engine->policies, std::vector{emulated_bf16()});
  const auto inputs = test::random_inputs(graph, 3, 1);
  const tensor::Tensor output = Context(engine, device, 1).run(inputs)[0];
  EXPECT_EQ(output.to_double(), output.cast(DType::kBFloat16).cast(DType::kFloat32).to_double());
  // One rounding of weights and one of results, each by 2^-9.
  EXPECT_LE(test::relative_error(output, reference::run_graph(graph, inputs)[0]), 4 * 0x1p-9);
}

}  // namespace
}  // namespace hone::engine
