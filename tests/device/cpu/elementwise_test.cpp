// Elementwise steps of the CPU, by what their operands are.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "device/cpu/chain_math.hpp"
#include "device/cpu/cpu_device.hpp"
#include "device/cpu/cpu_steps.hpp"
#include "engine/program/execution.hpp"
#include "support/equivalence.hpp"
#include "tensor/saturate.hpp"

namespace hone::engine {
namespace {

using test::GraphBuilder;

/// A chain has operands for each row of plain images only, so the image is arranged so.
TEST(CpuElementwise, OperandsForEachRowAreAddedToAnImageInAnotherLayout) {
  const Device& device = device::cpu::cpu_device();
  GraphBuilder b;
  const auto x = b.conv(b.input("x", {1, 16, 6, 6}), 16, 16);
  const graph::Graph graph = b.finish({b.node("Relu", {b.node("Add", {x, b.random({6, 1})})})});
  for (const Layout layout : device.image_layouts(Precision::kFp32)) {
    WeightStore weights;
    const std::shared_ptr<const Program> program =
        build_program(std::make_shared<const graph::Graph>(graph), device, weights, {.layout = layout});
    for (const ProgramStep& step : program->steps()) EXPECT_FALSE(step.runs_on_host()) << step.name;
    const auto inputs = test::random_inputs(graph, 3, 1);
    EXPECT_LE(test::relative_error(Execution(program, device).run(inputs)[0],
                                   reference::run_graph(graph, inputs)[0]),
              test::rounding_tolerance(graph));
  }
}

/// Numbers of all sizes, and those that are none.
tensor::Tensor hard_numbers(const tensor::Shape& shape, bool with_nan) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float special[] = {0.0f, -0.0f, infinity, 1e-30f, -1e-30f, 1e-40f, 87.5f, -87.5f, 120.0f, -120.0f};
  std::vector<float> elements;
  const auto numbers = test::random_tensor(shape, 7, -4, 4);
  for (const float number : numbers.values<float>()) {
    const size_t i = elements.size();
    elements.push_back(i % 7 == 3 ? special[i / 7 % std::size(special)] : number);
    if (with_nan && i % 31 == 5) elements.back() = std::numeric_limits<float>::quiet_NaN();
  }
  return tensor::Tensor::of<float>(elements, shape);
}

/// Each element, to a few units in its last place: infinities and NaN where the reference has them.
void expect_close_elements(const graph::Graph& graph, const tensor::Tensor& x) {
  const Device& device = device::cpu::cpu_device();
  WeightStore weights;
  const std::shared_ptr<const Program> program =
      build_program(std::make_shared<const graph::Graph>(graph), device, weights, {});
  for (const ProgramStep& step : program->steps()) EXPECT_FALSE(step.runs_on_host()) << step.name;
  const auto in = x.to_double();
  const std::vector<tensor::Tensor> inputs = {x};
  const auto actual = Execution(program, device).run(inputs)[0].to_double();
  const auto expected = reference::run_graph(graph, inputs)[0].to_double();
  for (size_t i = 0; i < expected.size(); ++i) {
    if (std::isnan(expected[i]) || std::isinf(expected[i])) {
      EXPECT_TRUE(std::isnan(expected[i]) ? std::isnan(actual[i]) : actual[i] == expected[i])
          << graph.nodes[0].op << "(" << in[i] << ") is " << expected[i] << ", not " << actual[i];
      continue;
    }
    // Subnormal results may be zero.
    EXPECT_NEAR(actual[i], expected[i], 4e-7 * std::abs(expected[i]) + 2e-38)
        << graph.nodes[0].op << "(" << in[i] << ")";
  }
}

TEST(CpuElementwise, FunctionsOfOneNumberAreAccurate) {
  const std::pair<const char*, test::AttributeList> functions[] = {{"Relu", {}},
                                                                   {"LeakyRelu", {{"alpha", 0.1f}}},
                                                                   {"Sigmoid", {}},
                                                                   {"Tanh", {}},
                                                                   {"Elu", {}},
                                                                   {"HardSigmoid", {}},
                                                                   {"Softplus", {}},
                                                                   {"Selu", {}},
                                                                   {"ThresholdedRelu", {}},
                                                                   {"Shrink", {}},
                                                                   {"Neg", {}},
                                                                   {"Abs", {}},
                                                                   {"Sign", {}},
                                                                   {"Exp", {}},
                                                                   {"Log", {}},
                                                                   {"Sqrt", {}},
                                                                   {"Erf", {}},
                                                                   {"Floor", {}},
                                                                   {"Reciprocal", {}},
                                                                   {"Ceil", {}},
                                                                   {"Round", {}},
                                                                   {"Atan", {}},
                                                                   {"Cosh", {}},
                                                                   {"Asinh", {}}};
  for (const auto& [op, attributes] : functions) {
    test::GraphBuilder b;
    const auto x = b.input("x", {3, 1025});
    const graph::Graph graph = b.finish({b.node(op, {x}, attributes)});
    expect_close_elements(graph, hard_numbers({3, 1025}, true));
  }
}

TEST(CpuElementwise, SmoothActivationsAreAccurate) {
  for (const char* op : {"Gelu", "Celu", "Mish", "HardSwish", "Softsign", "Sin", "Cos", "Tan"}) {
    test::GraphBuilder b;
    const auto x = b.input("x", {700});
    const graph::Graph graph = b.finish({b.node(op, {x})});
    const auto inputs = std::vector<tensor::Tensor>{test::random_tensor({700}, 5, -12, 12)};
    test::expect_own_steps(graph, inputs);
  }
}

/// Results that are rounded to bfloat16 may be off by a quarter of that.
TEST(CpuElementwise, CoarseActivationsAreWithinARounding) {
  using device::cpu::ChainOp;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> x;
  for (int i = -3000; i <= 3000; ++i) x.push_back(static_cast<float>(i) / 100);
  x.insert(x.end(), {kInfinity, 1e-30f, -1e-30f, 87.5f, -87.5f, -89.0f, 1e30f, -1e30f, -3.4e38f});
  const size_t numbers = x.size();
  x.push_back(std::numeric_limits<float>::quiet_NaN());
  std::vector<float> exact(x.size());
  std::vector<float> coarse(x.size());
  for (const ChainOp op : {ChainOp::kSigmoid, ChainOp::kSwish, ChainOp::kGeluErf, ChainOp::kGeluTanh}) {
    const device::cpu::ChainLink link{op, 1};
    device::cpu::apply_link(link, x.data(), nullptr, 0, exact.data(), x.size());
    device::cpu::apply_link(link, x.data(), nullptr, 0, coarse.data(), x.size(),
                            device::cpu::LinkError::kOfHalf);
    for (size_t i = 0; i < numbers; ++i) {
      if (std::isinf(exact[i])) {
        EXPECT_EQ(coarse[i], exact[i]);
        continue;
      }
      // The tails of GELU are fits as far as 5.5 only.
      EXPECT_NEAR(coarse[i], exact[i], std::abs(exact[i]) / 2048 + 2e-6f)
          << static_cast<int>(op) << " of " << x[i];
    }
    EXPECT_TRUE(std::isnan(coarse.back())) << static_cast<int>(op);
  }
}

/// A mask of the lowest number stays none: what an activation multiplies it with is 0, not nearly 0.
TEST(CpuElementwise, ActivationsOfLargeNegativeNumbersAreZero) {
  const std::vector<float> large = {
      -13, -90, -1e3f, -1e12f, -1e20f, -3e38f, std::numeric_limits<float>::lowest()};
  const std::pair<const char*, test::AttributeList> functions[] = {
      {"Gelu", {}}, {"Gelu", {{"approximate", std::string("tanh")}}}, {"Sigmoid", {}}, {"Mish", {}}};
  for (const auto& [op, attributes] : functions) {
    test::GraphBuilder b;
    const graph::Graph graph = b.finish({b.node(op, {b.input("x", {7})}, attributes)});
    engine::WeightStore weights;
    const std::shared_ptr<const engine::Program> program = engine::build_program(
        std::make_shared<const graph::Graph>(graph), device::cpu::cpu_device(), weights, {});
    ASSERT_FALSE(program->steps()[0].runs_on_host()) << op;
    const std::vector<tensor::Tensor> inputs = {tensor::Tensor::of<float>(large, {7})};
    const auto actual = engine::Execution(program, device::cpu::cpu_device()).run(inputs)[0].to_double();
    for (size_t i = 0; i < large.size(); ++i) EXPECT_NEAR(actual[i], 0, 4e-5) << op << " of " << large[i];
    EXPECT_EQ(actual.back(), 0) << op;
  }
}

TEST(CpuElementwise, OperandsAreBroadcastFromAnyDimensions) {
  const tensor::Shape output = {2, 3, 5, 2};
  const tensor::Shape others[] = {{2, 3, 5, 2}, {3, 5, 2}, {5, 1}, {2},       {1},         {},
                                  {2, 1, 5, 2}, {3, 1, 2}, {1, 2}, {3, 1, 1}, {2, 3, 1, 1}};
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Pow"}) {
    for (const tensor::Shape& other : others) {
      for (const bool first : {true, false}) {
        test::GraphBuilder b;
        const auto x = b.node("Abs", {b.input("x", {2, 3, 5, 2})});
        const auto y = b.random(other, 0.5, 2);
        const graph::Graph graph = b.finish({b.node(op, {first ? x : y, first ? y : x})});
        test::expect_own_steps(graph, test::random_inputs(graph, 3, 1));
      }
    }
  }
}

TEST(CpuElementwise, SlopesOfPReluAreBroadcast) {
  for (const tensor::Shape& slope : {tensor::Shape{7, 1, 1}, {1}, {7, 4, 3}, {3}}) {
    test::GraphBuilder b;
    const auto x = b.conv(b.input("x", {2, 7, 4, 3}), 7, 7);
    const graph::Graph graph = b.finish({b.node("PRelu", {x, b.random(slope)})});
    test::expect_own_steps(graph, test::random_inputs(graph, 3, 1));
  }
}

/// Blocks of usual numbers, and of those that are infinite, no numbers, or round to infinity, among them.
TEST(CpuElementwise, EveryFloatIsNarrowedToTheNearest) {
  std::mt19937 generator(5);
  std::vector<float> from(5000);
  for (size_t i = 0; i < from.size(); ++i) {
    const auto word = static_cast<uint32_t>(generator());
    from[i] = std::bit_cast<float>(i < 2500 ? (word & 0x807fffffU) | 0x3f000000U : word);
  }
  from[1300] = std::numeric_limits<float>::infinity();
  from[1301] = -std::numeric_limits<float>::max();
  from[4000] = std::bit_cast<float>(0x7f7f8000U);
  from[4999] = std::nanf("");
  std::vector<tensor::BFloat16> to(from.size());
  device::cpu::narrow(from.data(), to.data(), from.size());
  for (size_t i = 0; i < from.size(); ++i) {
    if (std::isnan(from[i])) {
      EXPECT_TRUE(std::isnan(static_cast<float>(to[i]))) << i;
    } else {
      EXPECT_EQ(to[i].bits, tensor::saturated<tensor::BFloat16>(from[i]).bits) << from[i];
    }
  }
}

TEST(CpuElementwise, EmptyTensorsAreLeftAlone) {
  test::GraphBuilder b;
  const auto x = b.input("x", {2, 0, 3});
  const graph::Graph graph = b.finish({b.node("Add", {b.node("Exp", {x}), b.random({3})})});
  test::expect_own_steps(graph, test::random_inputs(graph, 3, 1));
}

}  // namespace
}  // namespace hone::engine
