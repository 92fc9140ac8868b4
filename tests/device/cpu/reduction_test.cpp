// Reductions, softmax and normalisations of the CPU against the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "device/cpu/cpu_steps.hpp"
#include "support/regions.hpp"

namespace hone::device {
namespace {

using tensor::Shape;
using tensor::Tensor;
using test::GraphBuilder;

using Axes = std::vector<int64_t>;

constexpr const char* kReductions[] = {"ReduceSum",    "ReduceMean",     "ReduceMax", "ReduceMin",
                                       "ReduceProd",   "ReduceL1",       "ReduceL2",  "ReduceSumSquare",
                                       "ReduceLogSum", "ReduceLogSumExp"};

/// Positive numbers, so that every reduction has a result that is one.
graph::Graph reduction(const char* op, const Shape& shape, const Axes& axes, int64_t keep) {
  GraphBuilder b;
  graph::Dims dims(shape.begin(), shape.end());
  const auto x = b.node("Sigmoid", {b.input("x", dims)});
  return b.finish({b.node(op, {x, b.ints(axes)}, {{"keepdims", keep}})});
}

TEST(CpuReduction, ReducesAnyAxes) {
  const Shape shape = {3, 4, 5, 7};
  for (const char* op : kReductions) {
    for (const Axes& axes : {Axes{3}, {0}, {1}, {2, 3}, {0, 2}, {1, 3}, {0, 1, 2, 3}, {-1, 0}, {1, 2}}) {
      const graph::Graph graph = reduction(op, shape, axes, axes.size() % 2);
      test::expect_own_steps(graph, test::random_inputs(graph, 3, 1));
    }
  }
}

TEST(CpuReduction, ReducesLongRowsAndManyColumns) {
  for (const char* op : {"ReduceSum", "ReduceMax", "ReduceL2", "ReduceMean", "ReduceLogSumExp"}) {
    for (const auto& [shape, axes] :
         {std::pair<Shape, Axes>{{100003}, {0}}, {{2, 5003}, {1}}, {{37, 1001}, {0}}, {{2, 30, 700}, {1}}}) {
      const graph::Graph graph = reduction(op, shape, axes, 1);
      test::expect_own_steps(graph, test::random_inputs(graph, 3, 1));
    }
  }
}

TEST(CpuReduction, ExtremesOfWhatIsNoNumber) {
  std::vector<float> elements(3 * 40, 1.0f);
  elements[5] = elements[47] = std::numeric_limits<float>::quiet_NaN();
  elements[50] = elements[60] = 2;
  elements[90] = -std::numeric_limits<float>::infinity();
  for (const char* op : {"ReduceMax", "ReduceMin", "ArgMax", "ArgMin"}) {
    for (const int64_t axis : {0, 1}) {
      for (const int64_t last : {0, 1}) {
        GraphBuilder b;
        const auto x = b.input("x", {3, 40});
        const bool arg = op[0] == 'A';
        if (!arg && last != 0) continue;
        const auto y = arg ? b.node(op, {x}, {{"axis", axis}, {"select_last_index", last}})
                           : b.node(op, {x, b.ints({axis})});
        test::expect_own_steps(b.finish({y}), {Tensor::of<float>(elements, {3, 40})});
      }
    }
  }
}

/// As models find the token at which a text ends.
template <class T>
void expect_integer_extremes(graph::DType dtype) {
  const std::vector<T> elements = {3, 7, -1, 7, std::numeric_limits<T>::min(), 7,
                                   7, 7, 7,  0, std::numeric_limits<T>::max(), 1};
  for (const char* op : {"ArgMax", "ArgMin"}) {
    for (const int64_t axis : {0, 1, -1}) {
      for (const int64_t last : {0, 1}) {
        GraphBuilder b;
        const auto x = b.input("x", {2, 3, 2}, dtype);
        const auto y = b.node(op, {x}, {{"axis", axis}, {"select_last_index", last}});
        test::expect_own_steps(b.finish({y}), {Tensor::of<T>(elements, {2, 3, 2})});
      }
    }
  }
}

TEST(CpuReduction, ExtremesOfIntegers) {
  expect_integer_extremes<int32_t>(graph::DType::kInt32);
  expect_integer_extremes<int64_t>(graph::DType::kInt64);
}

TEST(CpuReduction, GlobalPoolsTakeEveryLayout) {
  for (const char* op : {"GlobalMaxPool", "GlobalAveragePool"}) {
    for (const int64_t channels : {1, 16, 21}) {
      GraphBuilder b;
      const auto x = b.input("x", {2, channels, 9, 7});
      const auto image = channels == 1 ? x : b.conv(x, channels, channels);
      const graph::Graph graph = b.finish({b.node(op, {image})});
      test::expect_own_steps(graph, test::random_inputs(graph, 3, 1));
    }
  }
}

TEST(CpuReduction, SoftmaxAlongAnyAxis) {
  for (const char* op : {"Softmax", "LogSoftmax"}) {
    for (const int64_t axis : {0, 1, 2, -1}) {
      GraphBuilder b;
      const auto x = b.input("x", {3, 7, 5, 301});
      const graph::Graph graph = b.finish({b.node(op, {x}, {{"axis", axis}})});
      test::expect_own_steps(graph, test::random_inputs(graph, 3, 1));
    }
  }
}

TEST(CpuReduction, SoftmaxOfMaskedElementsIsZero) {
  std::vector<float> elements(6 * 5, 1.0f);
  for (size_t i = 0; i < elements.size(); i += 3) elements[i] = -std::numeric_limits<float>::infinity();
  elements[7] = 90;
  for (const int64_t axis : {0, 1}) {
    GraphBuilder b;
    const auto x = b.input("x", {6, 5});
    const graph::Graph graph = b.finish({b.node("Softmax", {x}, {{"axis", axis}})});
    test::expect_own_steps(graph, {Tensor::of<float>(elements, {6, 5})});
  }
}

TEST(CpuReduction, LogarithmsOfLargeElementsKeepTheirDigits) {
  const std::vector<float> elements = {1e4f, 9999, 9998.5f, 9999.5f, -3e4f, -29999, -30001, -30000.25f};
  for (const int64_t axis : {0, 1}) {
    GraphBuilder b;
    const auto x = b.input("x", {axis == 1 ? 2 : 4, axis == 1 ? 4 : 2});
    const graph::Graph graph = b.finish({b.node("LogSoftmax", {x}, {{"axis", axis}})});
    std::vector<float> ordered = elements;
    if (axis == 0) {
      for (size_t i = 0; i < elements.size(); ++i) ordered[i % 4 * 2 + i / 4] = elements[i];
    }
    test::expect_own_steps(graph, {Tensor::of<float>(ordered, {axis == 1 ? 2 : 4, axis == 1 ? 4 : 2})});
  }
}

TEST(CpuReduction, NormalisesLayers) {
  for (const int64_t axis : {1, 2, -1}) {
    GraphBuilder b;
    const auto x = b.input("x", {2, 5, 3, 77});
    Shape layer = {2, 5, 3, 77};
    layer.erase(layer.begin(), axis < 0 ? layer.end() - 1 : layer.begin() + axis);
    const auto y = b.nodes("LayerNormalization", {x, b.random(layer), b.random(layer)}, 3, {{"axis", axis}});
    const auto z = b.node("LayerNormalization", {x, b.random(layer)}, {{"axis", axis}});
    const graph::Graph graph = b.finish({y[0], y[1], y[2], z});
    test::expect_own_steps(graph, test::random_inputs(graph, 3, 1));
  }
}

/// Read and written as they lie between steps, with the statistics of float32.
TEST(CpuReduction, NormalisesLayersOfBfloat16) {
  const engine::Device& device = device::cpu::cpu_device();
  if (!device.computes_in(engine::Precision::kBf16)) GTEST_SKIP() << "this CPU emulates bf16";
  for (const int64_t length : {1, 15, 48, 77, 256, 257, 768, 1030}) {
    GraphBuilder b;
    const auto x = b.input("x", {3, 50, length});
    const auto y = b.node("LayerNormalization", {x, b.random({length}), b.random({length})});
    const graph::Graph graph = b.finish({y});
    engine::WeightStore weights;
    const std::shared_ptr<const engine::Program> program =
        engine::build_program(std::make_shared<const graph::Graph>(graph), device, weights,
                              {.policy = device.policy_for(engine::Precision::kBf16)});
    const auto step = std::ranges::find(program->steps(), "LayerNormalization", &engine::ProgramStep::kind);
    ASSERT_NE(step, program->steps().end());
    EXPECT_EQ(step->inputs[0].desc.dtype, tensor::DType::kBFloat16);
    EXPECT_EQ(step->outputs[0].desc.dtype, tensor::DType::kBFloat16);
    // Rows far from zero, of which statistics in bfloat16 would know little.
    Tensor rows = test::random_tensor({3, 50, length}, 5, 100, 104);
    for (float& element : rows.mutable_values<float>()) element = std::round(element);
    const std::vector<Tensor> inputs = {rows};
    const auto actual = engine::Execution(program, device).run(inputs);
    EXPECT_LE(test::relative_error(actual[0], reference::run_graph(graph, inputs)[0]), 1.0 / 256) << length;
  }
}

TEST(CpuReduction, NormalisesGroupsAndInstances) {
  for (const int64_t groups : {1, 3, 12}) {
    GraphBuilder b;
    const auto x = b.input("x", {2, 12, 5, 7});
    const auto y =
        b.node("GroupNormalization", {x, b.random({12}), b.random({12})}, {{"num_groups", groups}});
    const auto z = b.node("InstanceNormalization", {x, b.random({12}), b.random({12})});
    const graph::Graph graph = b.finish({y, z});
    test::expect_own_steps(graph, test::random_inputs(graph, 3, 1));
  }
}

TEST(CpuReduction, NormalisesChannelsThatLieInBlocks) {
  for (const int64_t groups : {1, 4, 16}) {
    for (const Shape& shape : {Shape{2, 32, 5, 7}, Shape{1, 32, 40, 60}}) {
      GraphBuilder b;
      const auto x = b.input("x", graph::Dims(shape.begin(), shape.end()));
      const auto y =
          b.node("GroupNormalization", {x, b.random({32}), b.random({32})}, {{"num_groups", groups}});
      const auto z = b.node("InstanceNormalization", {x, b.random({32}), b.random({32})});
      const graph::Graph graph = b.finish({y, z});
      test::expect_own_steps(graph, test::random_inputs(graph, 3, 1));
    }
  }
}

TEST(CpuReduction, ActivatesWhatItNormalises) {
  for (const int64_t channels : {32, 12, 1040}) {
    GraphBuilder b;
    const auto x = b.input("x", {1, channels, 3, 5});
    const auto norm = b.node("GroupNormalization", {x, b.random({channels}), b.random({channels})},
                             {{"num_groups", int64_t{4}}});
    const auto y = b.node("FusedElementwise", {norm},
                          {{"post_ops", std::vector<std::string>{"swish", "tanh"}},
                           {"post_alphas", std::vector<float>{1, 0}},
                           {"post_betas", std::vector<float>{0, 0}}});
    const graph::Graph graph =
        test::as_region(b.finish({y}), "activated_normalization", {"norm", "activation"});
    test::expect_own_steps(graph, test::random_inputs(graph, 3, 1));
  }
}

/// A file may have any body in a region of this kind: the reference computes it.
TEST(CpuReduction, LeavesOtherBodiesToTheReference) {
  GraphBuilder b;
  const auto x = b.input("x", {1, 4, 3, 5});
  const auto y = b.node("Relu", {b.node("Neg", {x})});
  const graph::Graph graph =
      test::as_region(b.finish({y}), "activated_normalization", {"norm", "activation"});
  engine::WeightStore weights;
  const std::shared_ptr<const engine::Program> program =
      engine::build_program(std::make_shared<const graph::Graph>(graph), cpu::cpu_device(), weights, {});
  const auto inputs = test::random_inputs(graph, 3, 1);
  EXPECT_LE(test::relative_error(engine::Execution(program, cpu::cpu_device()).run(inputs)[0],
                                 reference::run_graph(graph, inputs)[0]),
            1e-6);
}

}  // namespace
}  // namespace hone::device
