// An engine in bf16 keeps angles, indices and places in float32, and masks make no NaN in it.
#include "engine/float32_nodes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "device/cpu/cpu_device.hpp"
#include "engine/builder.hpp"
#include "engine/context.hpp"
#include "engine/fake_device.hpp"
#include "support/equivalence.hpp"

namespace hone::engine {
namespace {

using graph::ValueId;
using tensor::Tensor;
using test::GraphBuilder;

constexpr float kLowest = std::numeric_limits<float>::lowest();

/// The CPU's, which lacks bf16 whatever the processor has.
class WithoutBf16 final : public FakeDevice {
 public:
  using FakeDevice::FakeDevice;
  bool computes_in(Precision precision) const override { return precision == Precision::kFp32; }
};

/// Results of an engine in bf16 and of the reference, for devices with and without bf16, at every level.
void expect_near_reference(const graph::Graph& graph, const std::vector<Tensor>& inputs, double tolerance) {
  const auto expected = reference::run_graph(graph, inputs);
  const WithoutBf16 without({}, false);
  for (const Device* device : {&device::cpu::cpu_device(), static_cast<const Device*>(&without)}) {
    for (const int level : {0, 3}) {
      BuildOptions options;
      options.precision = Precision::kBf16;
      options.optimization_level = level;
      const auto results = Context(build_engine(graph, *device, options), *device, 1).run(inputs);
      for (size_t i = 0; i < results.size(); ++i)
        EXPECT_LE(test::relative_error(results[i], expected[i]), tolerance)
            << device->name() << ", level " << level << ", output " << i;
    }
  }
}

Tensor positions(int64_t count) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i));
  return Tensor::of<float>(values, {count, 1});
}

/// A result rounded to bf16, by 2^-9 at most, and weights or operands that were rounded before.
constexpr double kRoundings = 4 * 0x1p-9;

TEST(Float32Nodes, KeepTheBoxesAndScoresThatSuppressionCompares) {
  GraphBuilder b;
  const auto boxes = b.input("boxes", {1, 300, 4});
  const auto scores = b.input("scores", {1, 2, 300});
  const auto scaled = b.node("Mul", {boxes, b.scalar(1.01F)});
  const auto shifted = b.node("Add", {scores, b.scalar(0.125F)});
  const graph::Graph graph =
      b.finish({b.node("NonMaxSuppression", {scaled, shifted, b.constant(Tensor::of<int64_t>({200}, {1})),
                                             b.constant(Tensor::of<float>({0.3F}, {1}))})});
  expect_near_reference(
      graph, {test::random_tensor({1, 300, 4}, 3, 0, 320), test::random_tensor({1, 2, 300}, 4)}, 0);
}

TEST(Float32Nodes, AreThoseWhoseResultsAreOnlyAnglesIndicesOrPlaces) {
  GraphBuilder b;
  const auto x = b.input("x", {700, 1});
  const auto angle = b.node("MatMul", {x, b.random({1, 8})});
  const auto sine = b.node("Sin", {b.node("Mul", {angle, b.scalar(2)})});
  const auto other = b.node("Mul", {x, b.scalar(3)});
  const auto both = b.node("Add", {b.node("Cos", {other}), other});
  const auto graph = b.finish({sine, both});
  EXPECT_EQ(float32_nodes(graph), (std::vector<bool>{true, true, false, false, false, false}));
}

TEST(Float32Nodes, LeaveOutProductsOfLongRows) {
  GraphBuilder b;
  const auto product = b.node("MatMul", {b.input("x", {4, 256}), b.random({256, 8})});
  const auto graph = b.finish({b.node("Sin", {b.node("Add", {product, b.random({8})})})});
  EXPECT_EQ(float32_nodes(graph), (std::vector<bool>{false, true, false}));
}

TEST(Float32Nodes, BytesAreMadeOfFloat16ButNotOfBFloat16) {
  GraphBuilder b;
  const auto product = b.node("Mul", {b.input("x", {4, 8}), b.scalar(3)});
  const auto scale = b.scalar(0.1F);
  const auto zero = b.constant(Tensor::scalar<int8_t>(0));
  const auto graph = b.finish({b.node("QuantizeLinear", {product, scale, zero}),
                               b.node("Sin", {b.node("Neg", {b.input("y", {4})})})});
  EXPECT_EQ(float32_nodes(graph), (std::vector<bool>{true, true, true, true}));
  EXPECT_EQ(float32_nodes(graph, tensor::DType::kFloat16), (std::vector<bool>{false, false, true, true}));
  const NodePolicies policies(graph);
  EXPECT_EQ(policies.policy_for(0, policy_of(Precision::kFp16)), policy_of(Precision::kFp16));
  EXPECT_EQ(policies.policy_for(0, policy_of(Precision::kBf16)), policy_of(Precision::kFp32));
  EXPECT_EQ(policies.policy_for(2, policy_of(Precision::kFp16)), policy_of(Precision::kFp32));
}

TEST(Float32Nodes, AnglesOfFarPositionsAreRight) {
  GraphBuilder b;
  const auto angle = b.node("MatMul", {b.input("x", {700, 1}), b.random({1, 8})});
  const auto twice = b.node("Concat", {angle, angle}, {{"axis", int64_t{1}}});
  const auto turned = b.node("Transpose", {twice});
  expect_near_reference(b.finish({b.node("Cos", {turned}), b.node("Sin", {turned})}), {positions(700)},
                        kRoundings);
}

TEST(Float32Nodes, FusedProductsOfAnglesAreRight) {
  GraphBuilder b;
  const auto product = b.node("MatMul", {b.input("x", {700, 1}), b.random({1, 8})});
  const auto angle = b.node("Mul", {b.node("Add", {product, b.random({8})}), b.scalar(2)});
  expect_near_reference(b.finish({b.node("Cos", {angle}), b.node("Sin", {angle})}), {positions(700)},
                        kRoundings);
}

TEST(Float32Nodes, IndicesOfFarPlacesAreRight) {
  GraphBuilder b;
  const auto place =
      b.node("Sub", {b.node("Mul", {b.input("x", {700, 1}), b.scalar(0.999f)}), b.scalar(0.25f)});
  const auto index = b.node("Cast", {place}, {{"to", static_cast<int64_t>(DType::kInt64)}});
  const auto before = b.node("Less", {place, b.scalar(513.5f)});
  expect_near_reference(b.finish({b.node("Gather", {b.random({701}), index}), before}), {positions(700)},
                        kRoundings);
}

TEST(Float32Nodes, MasksOfTheLowestFloatMakeNoNan) {
  GraphBuilder b;
  const auto scores = b.node("MatMul", {b.input("q", {1, 2, 4, 8}), b.random({1, 2, 8, 4})});
  const auto kept = b.input("kept", {1, 1, 1, 4});
  const auto mask = b.node("Mul", {b.node("Sub", {b.scalar(1), kept}), b.scalar(kLowest)});
  const auto masked = b.node("Add", {b.node("Mul", {scores, b.scalar(0.5f)}), mask});
  const auto flat = b.node("MatMul", {b.input("a", {4, 8}), b.random({8, 4})});
  const auto row = b.node("Add", {flat, b.input("row", {4})});
  const auto graph = b.finish({b.node("Softmax", {masked}), b.node("Softmax", {row})});
  const Tensor lowest = Tensor::of<float>({kLowest, kLowest, kLowest, kLowest}, {4});
  for (const std::vector<float>& tokens : {std::vector<float>{1, 1, 0, 0}, {0, 0, 0, 0}}) {
    auto inputs = test::random_inputs(graph, 3, 1);
    inputs[1] = Tensor::of<float>(tokens, {1, 1, 1, 4});
    inputs[3] = lowest;
    // Scores of a few units that are rounded to bf16 three times on their way move a weight by as much.
    expect_near_reference(graph, inputs, 16 * 0x1p-9);
  }
}

TEST(Float32Nodes, SaturatedConstantsAreCountedWhereTheyAreNarrowed) {
  GraphBuilder b;
  const auto x = b.input("x", {4});
  const auto big = b.constant(Tensor::of<float>({kLowest, 1e5f, 1, -kLowest}, {4}));
  const auto graph = b.finish({b.node("Add", {x, big}), b.node("Mul", {x, big})});
  EXPECT_EQ(count_saturated_constants(graph, DType::kBFloat16), 2);
  EXPECT_EQ(count_saturated_constants(graph, DType::kFloat16), 3);
  EXPECT_EQ(count_saturated_constants(graph, DType::kFloat32), 0);
  GraphBuilder angles;
  const auto sum = angles.node("Add", {angles.input("x", {4}), angles.filled({4}, kLowest)});
  EXPECT_EQ(count_saturated_constants(angles.finish({angles.node("Sin", {sum})}), DType::kBFloat16), 0);
}

}  // namespace
}  // namespace hone::engine
