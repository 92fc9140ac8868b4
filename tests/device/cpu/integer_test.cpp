// Quantized operators of the CPU against the reference.
#include <gtest/gtest.h>

#include "device/cpu/cpu_steps.hpp"

namespace hone::device {
namespace {

using graph::ValueId;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using test::GraphBuilder;

Tensor bytes(const Shape& shape, uint32_t seed, DType dtype) {
  const bool is_signed = dtype == DType::kInt8;
  return test::random_tensor(shape, seed, is_signed ? -128 : 0, is_signed ? 128 : 256).cast(dtype);
}

ValueId scalar(GraphBuilder& b, int value, DType dtype) {
  return b.constant(Tensor::of<int64_t>({value}, {}).cast(dtype));
}

TEST(CpuInteger, QuantizesAndBack) {
  for (const DType dtype : {DType::kUInt8, DType::kInt8}) {
    for (const bool per_channel : {false, true}) {
      GraphBuilder b;
      const auto x = b.input("x", {2, 5, 33, 41});
      const Shape shape = per_channel ? Shape{5} : Shape{};
      const auto scale = b.random(shape, 0.003, 0.02);
      const auto zero = b.constant(test::random_tensor(shape, 3, 0, 9).cast(dtype));
      const auto quantized = b.node("QuantizeLinear", {x, scale, zero}, {{"axis", int64_t{1}}});
      const auto back = b.node("DequantizeLinear", {quantized, scale, zero}, {{"axis", int64_t{1}}});
      const graph::Graph graph = b.finish({quantized, back});
      test::expect_own_steps(graph, test::random_inputs(graph, 3, 1));
    }
  }
}

TEST(CpuInteger, TakesOneScaleAndOneZeroPointOfAnyRank) {
  GraphBuilder b;
  const auto x = b.input("x", {6});
  const auto zero = scalar(b, 0, DType::kInt32);
  const auto bias = b.constant(test::random_tensor({6}, 3, -500, 500).cast(DType::kInt32));
  // ONNX Runtime writes biases so.
  const auto y = b.node("Add", {x, b.node("DequantizeLinear", {bias, b.filled({1}, 0.01f), zero})});
  const auto z = b.node("QuantizeLinear", {x, b.scalar(0.01f), b.constant(Tensor::of<uint8_t>({7}, {1}))});
  const graph::Graph graph = b.finish({y, z});
  test::expect_own_steps(graph, test::random_inputs(graph, 3, 1));
}

TEST(CpuInteger, SubtractsZeroPointsThatNoFloatHolds) {
  GraphBuilder b;
  const auto x = b.input("x", {4}, DType::kInt32);
  const auto y = b.node("DequantizeLinear", {x, b.scalar(1), scalar(b, (1 << 24) + 1, DType::kInt32)});
  test::expect_own_steps(b.finish({y}),
                         {Tensor::of<int32_t>({(1 << 24) + 3, (1 << 24) + 1, INT32_MAX, INT32_MIN}, {4})});
}

TEST(CpuInteger, QuantizesWhatIsNoNumber) {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> elements = {
      0.5f, 1.5f, 2.5f, -0.5f, infinity, -infinity, 3e38f, 254.5f, std::numeric_limits<float>::quiet_NaN()};
  elements.resize(70, 1);
  GraphBuilder b;
  const auto x = b.input("x", {70});
  const auto y = b.node("QuantizeLinear", {x, b.scalar(1), scalar(b, 3, DType::kUInt8)});
  const auto z = b.node("QuantizeLinear", {x, b.scalar(1), scalar(b, -3, DType::kInt8)});
  test::expect_own_steps(b.finish({y, z}), {Tensor::of<float>(elements, {70})});
}

TEST(CpuInteger, QuantizesByTheRange) {
  for (const Shape& shape : {Shape{7}, {3, 100, 200}}) {
    GraphBuilder b;
    const auto y =
        b.nodes("DynamicQuantizeLinear", {b.input("x", graph::Dims(shape.begin(), shape.end()))}, 3);
    const graph::Graph graph = b.finish(y);
    test::expect_own_steps(graph, test::random_inputs(graph, 3, 1));
  }
}

TEST(CpuInteger, SumsConvolutions) {
  for (const DType weights : {DType::kInt8, DType::kUInt8}) {
    for (const int64_t group : {1, 16}) {
      GraphBuilder b;
      const auto x = b.nodes("DynamicQuantizeLinear", {b.input("x", {2, 16, 9, 11})}, 3);
      const auto w = b.constant(bytes({32, 16 / group, 3, 3}, 5, weights));
      const int middle = weights == DType::kUInt8 ? 128 : 0;
      const auto y = b.node("ConvInteger", {x[0], w, x[2], scalar(b, middle, weights)},
                            {{"pads", std::vector<int64_t>{1, 1, 1, 1}}, {"group", group}});
      const graph::Graph graph = b.finish({y});
      test::expect_own_steps(graph, test::random_inputs(graph, 3, 1));
    }
  }
}

TEST(CpuInteger, SumsProducts) {
  for (const DType weights : {DType::kInt8, DType::kUInt8}) {
    GraphBuilder b;
    const auto x = b.nodes("DynamicQuantizeLinear", {b.input("x", {2, 7, 33})}, 3);
    const int middle = weights == DType::kUInt8 ? 128 : 0;
    const auto w = b.constant(bytes({33, 19}, 5, weights));
    const auto y = b.node("MatMulInteger", {x[0], w, x[2], scalar(b, middle, weights)});
    const graph::Graph graph = b.finish({y});
    test::expect_own_steps(graph, test::random_inputs(graph, 3, 1));
  }
}

/// Requantized results, which may differ by one where a sum lies between two.
void expect_neighbours(const graph::Graph& graph) {
  const engine::Device& device = device::cpu::cpu_device();
  const auto inputs = test::random_inputs(graph, 3, 1);
  engine::WeightStore weights;
  const std::shared_ptr<const engine::Program> program =
      engine::build_program(std::make_shared<const graph::Graph>(graph), device, weights, {});
  for (const engine::ProgramStep& step : program->steps()) EXPECT_FALSE(step.runs_on_host()) << step.name;
  const auto actual = engine::Execution(program, device).run(inputs)[0].to_double();
  const auto expected = reference::run_graph(graph, inputs)[0].to_double();
  size_t different = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], 1);
    different += actual[i] != expected[i] ? 1 : 0;
  }
  // The scale is rounded to float: a sum is as close to a tie as that in one of 10,000 cases.
  EXPECT_LE(different, expected.size() / 1000);
}

TEST(CpuInteger, RequantizesConvolutions) {
  for (const bool per_channel : {false, true}) {
    GraphBuilder b;
    const auto x = b.node("QuantizeLinear",
                          {b.input("x", {2, 16, 9, 11}), b.scalar(0.016f), scalar(b, 120, DType::kUInt8)});
    const auto w = b.constant(bytes({24, 16, 3, 3}, 5, DType::kInt8));
    const Shape shape = per_channel ? Shape{24} : Shape{};
    const auto zeros =
        b.constant(Tensor::of<float>(std::vector<float>(per_channel ? 24 : 1), shape).cast(DType::kInt8));
    const auto bias = b.constant(test::random_tensor({24}, 8, -5000, 5000).cast(DType::kInt32));
    const auto y =
        b.node("QLinearConv",
               {x, b.scalar(0.016f), scalar(b, 120, DType::kUInt8), w, b.random(shape, 0.001, 0.01), zeros,
                b.scalar(0.3f), scalar(b, 117, DType::kUInt8), bias},
               {{"pads", std::vector<int64_t>{1, 1, 1, 1}}});
    expect_neighbours(b.finish({y}));
  }
}

TEST(CpuInteger, RequantizesProducts) {
  GraphBuilder b;
  const auto x =
      b.node("QuantizeLinear", {b.input("x", {2, 7, 33}), b.scalar(0.016f), scalar(b, 120, DType::kUInt8)});
  const auto y =
      b.node("QLinearMatMul", {x, b.scalar(0.016f), scalar(b, 120, DType::kUInt8),
                               b.constant(bytes({33, 19}, 5, DType::kInt8)), b.scalar(0.004f),
                               scalar(b, 0, DType::kInt8), b.scalar(0.2f), scalar(b, 117, DType::kUInt8)});
  expect_neighbours(b.finish({y}));
}

}  // namespace
}  // namespace hone::device
