// The source of pointwise chains: the same for the same chain, whatever its numbers, and a sentence for what
// is no chain. That it computes the right thing is checked on a GPU (pointwise_check.cu).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "device/cuda/plugin/kernels/pointwise/pointwise_jit.hpp"

namespace hone::device::cuda {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// relu(x + y) with y broadcast along the first dimension.
PointwiseProgram add_relu(Storage type = Storage::kHalf) {
  return {{type, type}, {{"Add", {0, 1}}, {"Relu", {2}}}, {3}, {type}};
}

PointwiseGeometry broadcast(int64_t rows, int64_t columns) {
  return {{rows, columns}, {{columns, 1}, {0, 1}}};
}

std::string complaint(const PointwiseProgram& program, const PointwiseGeometry& geometry) {
  try {
    pointwise_source(program, geometry);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no complaint";
}

/// One step over `operands` floats.
std::string complaint_of(const PointwiseStep& step, const std::vector<Storage>& operands) {
  const PointwiseProgram program{operands, {step}, {static_cast<int>(operands.size())}, {Storage::kFloat}};
  return complaint(program, {{64}, std::vector<std::vector<int64_t>>(operands.size(), {1})});
}

TEST(PointwiseSource, IsTheSameEveryTime) {
  const auto first = pointwise_source(add_relu(), broadcast(56, 64));
  const auto second = pointwise_source(add_relu(), broadcast(56, 64));
  EXPECT_EQ(first.text, second.text);
  EXPECT_EQ(first.geometry, second.geometry);
  EXPECT_EQ(first.units, second.units);
}

TEST(PointwiseSource, NumbersOfTheGeometryAreParameters) {
  const auto small = pointwise_source(add_relu(), broadcast(7, 64));
  const auto large = pointwise_source(add_relu(), broadcast(3136, 2048));
  EXPECT_EQ(small.text, large.text);
  EXPECT_NE(small.geometry, large.geometry);
  EXPECT_EQ(small.geometry.size(), large.geometry.size());
  EXPECT_EQ(small.units * 8, 7 * 64);
  EXPECT_EQ(large.units * 8, 3136 * 2048);
}

TEST(PointwiseSource, DimensionsThatEveryOperandWalksAsOneAreOne) {
  const PointwiseProgram program{{Storage::kFloat}, {{"Relu", {0}}}, {1}, {Storage::kFloat}};
  const auto flat = pointwise_source(program, {{24}, {{1}}});
  EXPECT_EQ(pointwise_source(program, {{2, 1, 3, 4}, {{12, 12, 4, 1}}}).text, flat.text);
  const auto columns = pointwise_source(program, {{4, 6}, {{1, 4}}});
  EXPECT_NE(columns.text, flat.text);
}

TEST(PointwiseSource, WidthFollowsAlignmentAndSizes) {
  const PointwiseProgram program{{Storage::kHalf}, {{"Relu", {0}}}, {1}, {Storage::kHalf}};
  EXPECT_EQ(pointwise_source(program, {{64}, {{1}}}).units, 8);
  EXPECT_EQ(pointwise_source(program, {{64}, {{1}}}).alignment, 16u);
  EXPECT_EQ(pointwise_source(program, {{63}, {{1}}}).units, 63);
  EXPECT_EQ(pointwise_source(program, {{63}, {{1}}}).alignment, 1u);
  EXPECT_EQ(pointwise_source(program, {{64}, {{1}}, false}).units, 64);
  EXPECT_EQ(pointwise_source(program, {{}, {{}}}).units, 1);
}

TEST(PointwiseSource, OnlyOperationsOfTheChainAreDefined) {
  const std::string text = pointwise_source(add_relu(), broadcast(56, 64)).text;
  EXPECT_THAT(text, HasSubstr("op_Add("));
  EXPECT_THAT(text, HasSubstr("op_Relu("));
  EXPECT_THAT(text, Not(HasSubstr("op_Mul(")));
  EXPECT_NE(text, pointwise_source(add_relu(Storage::kBfloat16), broadcast(56, 64)).text);
}

TEST(PointwiseSource, ConstantsAreExact) {
  PointwiseProgram program{{Storage::kFloat}, {{"LeakyRelu", {0}, 0.1}}, {1}, {Storage::kFloat}};
  const std::string tenth = pointwise_source(program, {{64}, {{1}}}).text;
  program.steps[0].alpha = 0.1 + 1e-7;
  EXPECT_NE(pointwise_source(program, {{64}, {{1}}}).text, tenth);
}

TEST(PointwiseSource, StepsThatMakeNoSenseAreNamed) {
  const std::vector<Storage> one = {Storage::kFloat};
  const std::vector<Storage> mixed = {Storage::kFloat, Storage::kInt32};
  EXPECT_EQ(complaint_of({"Relu", {0}}, one), "no complaint");
  EXPECT_EQ(complaint_of({"Frobnicate", {0}}, one), "pointwise step 'Frobnicate': is unknown");
  EXPECT_EQ(complaint_of({"Relu", {0, 0}}, one), "pointwise step 'Relu': has 2 arguments");
  EXPECT_EQ(complaint_of({"Add", {0}}, one), "pointwise step 'Add': has 1 arguments");
  EXPECT_EQ(complaint_of({"Sum", {}}, one), "pointwise step 'Sum': has 0 arguments");
  EXPECT_EQ(complaint_of({"Where", {0, 0, 0}}, one), "pointwise step 'Where': argument 0 is no bool");
  EXPECT_EQ(complaint_of({"Add", {0, 1}}, mixed), "pointwise step 'Add': arguments of different kinds");
  EXPECT_EQ(complaint_of({"Exp", {1}}, mixed), "pointwise step 'Exp': arguments of the wrong kind");
  EXPECT_EQ(complaint_of({"BitwiseNot", {0}}, one),
            "pointwise step 'BitwiseNot': arguments of the wrong kind");
  EXPECT_EQ(complaint_of({"BitwiseNot", {1}}, mixed), "no complaint");
  EXPECT_EQ(complaint_of({"Relu", {1}}, one), "pointwise step 'Relu': argument 0 is no earlier value");
  EXPECT_EQ(complaint_of({"Relu", {-1}}, one), "pointwise step 'Relu': argument 0 is no earlier value");
}

TEST(PointwiseSource, ProgramsAndGeometriesMustFit) {
  PointwiseProgram program = add_relu();
  EXPECT_THAT(complaint(program, {{8}, {{1}}}), HasSubstr("strides for every operand"));
  EXPECT_THAT(complaint(program, {{8}, {{1}, {}}}), HasSubstr("one entry per dimension"));
  program.results = {4};
  EXPECT_THAT(complaint(program, broadcast(8, 8)), HasSubstr("result 0 of a pointwise program is no value"));
  program.results = {};
  EXPECT_THAT(complaint(program, broadcast(8, 8)), HasSubstr("an element type for every result"));
}

TEST(PointwiseSource, EveryStorageHasItsSize) {
  EXPECT_EQ(storage_bytes(Storage::kFloat), 4u);
  EXPECT_EQ(storage_bytes(Storage::kHalf), 2u);
  EXPECT_EQ(storage_bytes(Storage::kBfloat16), 2u);
  EXPECT_EQ(storage_bytes(Storage::kBool), 1u);
  EXPECT_EQ(storage_bytes(Storage::kInt64), 8u);
}

TEST(PointwiseKernel, TellsWhatTheRuntimeSaysWhereItCannotBeLoaded) {
  int count = 0;
  const cudaError_t missing = cudaGetDeviceCount(&count);
  if (missing == cudaSuccess && count > 0) GTEST_SKIP() << "this machine has a GPU";
  try {
    PointwiseKernel(add_relu(), broadcast(7, 64), 90);
    FAIL() << "it was loaded";
  } catch (const PointwiseLoadError& error) {
    EXPECT_EQ(error.status, missing);
    EXPECT_STREQ(error.what(), cudaGetErrorString(missing));
  }
}

}  // namespace
}  // namespace hone::device::cuda
