// Products of bytes by the loops of ours against the reference, on any CPU: where oneDNN multiplies bytes,
// the device would prefer it.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "device/cpu/cpu_device.hpp"
#include "engine/program/execution.hpp"
#include "support/equivalence.hpp"

namespace hone::device {
namespace {

using graph::ValueId;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using test::GraphBuilder;

constexpr const char* kTactic = "integer_sums";

Tensor bytes(const Shape& shape, uint32_t seed, DType dtype) {
  const bool is_signed = dtype == DType::kInt8;
  return test::random_tensor(shape, seed, is_signed ? -128 : 0, is_signed ? 128 : 256).cast(dtype);
}

/// Every integer operator of the graph runs by the tactic, with any number of threads.
void expect_equal(const graph::Graph& graph, const std::vector<Tensor>& inputs, double tolerance = 0) {
  const auto expected = reference::run_graph(graph, inputs)[0].to_double();
  const engine::Device& device = cpu::cpu_device();
  for (const int threads : {1, 2, 7}) {
    device.set_threads(threads);
    engine::ProgramOptions options;
    for (size_t i = 0; i < graph.nodes.size(); ++i)
      options.plans[{static_cast<int32_t>(i), {}}] = {{kTactic, {}}, engine::Layout::kPlain, {}, 0};
    engine::WeightStore weights;
    const std::shared_ptr<const engine::Program> program =
        engine::build_program(std::make_shared<const graph::Graph>(graph), device, weights, options);
    EXPECT_TRUE(std::ranges::any_of(program->steps(), [](const engine::ProgramStep& step) {
      return step.plan.tactic.text() == kTactic;
    }));
    const auto actual = engine::Execution(program, device).run(inputs)[0].to_double();
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(actual[i], expected[i], tolerance) << i << " with " << threads << " threads";
  }
  device.set_threads(2);
}

struct Matrices {
  Shape a;
  Shape b;
};

TEST(CpuIntegerSums, MultipliesStacksAndVectorsOfAnySize) {
  for (const Matrices& shapes : {Matrices{{1, 1}, {1, 1}},
                                 {{5, 33}, {33, 19}},
                                 {{3}, {3, 4}},
                                 {{17, 3}, {3}},
                                 {{2, 7, 33}, {33, 19}},
                                 {{2, 1, 4, 5}, {3, 5, 6}},
                                 {{70, 257}, {257, 64}},
                                 {{130, 2100}, {2100, 37}},
                                 {{3, 40}, {40, 600}},
                                 {{3, 60, 11}, {3, 11, 40}}}) {
    for (const DType a_type : {DType::kUInt8, DType::kInt8}) {
      for (const bool is_constant : {true, false}) {
        GraphBuilder b;
        const DType b_type = is_constant ? DType::kInt8 : DType::kUInt8;
        const auto a = b.input("a", graph::Dims(shapes.a.begin(), shapes.a.end()), a_type);
        const Tensor second = bytes(shapes.b, 7, b_type);
        const auto other = is_constant ? b.constant(second)
                                       : b.input("b", graph::Dims(shapes.b.begin(), shapes.b.end()), b_type);
        const auto zero =
            b.constant(Tensor::of<int64_t>({a_type == DType::kInt8 ? -7 : 200}, {}).cast(a_type));
        std::vector<ValueId> operands = {a, other, zero};
        if (shapes.b.size() > 1 && !is_constant)
          operands.push_back(b.constant(bytes({shapes.b.back()}, 9, b_type)));
        const auto y = b.node("MatMulInteger", operands);
        std::vector<Tensor> inputs;
        inputs.push_back(bytes(shapes.a, 3, a_type));
        if (!is_constant) inputs.push_back(second);
        expect_equal(b.finish({y}), inputs);
      }
    }
  }
}

struct Images {
  Shape x;
  Shape w;
  int64_t group = 1;
  test::AttributeList attributes;
};

std::vector<Images> images() {
  using Ints = std::vector<int64_t>;
  return {{{2, 3, 11}, {5, 3, 3}, 1, {{"pads", Ints{2, 1}}, {"strides", Ints{2}}}},
          {{2, 16, 9, 11}, {32, 16, 3, 3}, 1, {{"pads", Ints{1, 1, 1, 1}}}},
          {{1, 6, 8, 7}, {6, 1, 3, 3}, 6, {{"pads", Ints{2, 0, 1, 3}}, {"dilations", Ints{2, 1}}}},
          {{1, 4, 9, 5}, {6, 2, 1, 1}, 2, {{"strides", Ints{3, 2}}}},
          {{1, 2, 5, 6, 4}, {3, 2, 2, 3, 1}, 1, {{"pads", Ints{1, 0, 1, 0, 2, 0}}}},
          {{1, 300, 7, 5}, {290, 300, 3, 3}, 1, {{"pads", Ints{1, 1, 1, 1}}}},
          {{1, 3, 20, 33}, {40, 3, 7, 7}, 1, {{"pads", Ints{3, 3, 3, 3}}, {"strides", Ints{2, 2}}}},
          {{2, 5, 21}, {5, 1, 3}, 5, {{"pads", Ints{1, 1}}}},
          {{1, 40, 6, 6}, {40, 1, 5, 5}, 40, {{"pads", Ints{4, 4, 4, 4}}, {"dilations", Ints{2, 2}}}}};
}

TEST(CpuIntegerSums, SumsConvolutionsOfOneToThreeAxes) {
  for (const Images& form : images()) {
    for (const bool of_channels : {true, false}) {
      GraphBuilder b;
      test::AttributeList attributes = form.attributes;
      attributes.emplace_back("group", form.group);
      const auto x = b.input("x", graph::Dims(form.x.begin(), form.x.end()), DType::kUInt8);
      const auto w = b.constant(bytes(form.w, 5, DType::kUInt8));
      const auto zeros = b.constant(bytes(of_channels ? Shape{form.w[0]} : Shape{}, 6, DType::kUInt8));
      const auto zero = b.constant(Tensor::of<int64_t>({101}, {}).cast(DType::kUInt8));
      const auto y = b.node("ConvInteger", {x, w, zero, zeros}, attributes);
      expect_equal(b.finish({y}), {bytes(form.x, 3, DType::kUInt8)});
    }
  }
}

TEST(CpuIntegerSums, RequantizesWithBiasAndScalesOfChannels) {
  for (const Images& form : images()) {
    GraphBuilder b;
    test::AttributeList attributes = form.attributes;
    attributes.emplace_back("group", form.group);
    const Shape channels = {form.w[0]};
    const auto x = b.input("x", graph::Dims(form.x.begin(), form.x.end()), DType::kInt8);
    const auto zeros = b.constant(Tensor(DType::kInt8, channels));
    const auto bias = b.constant(test::random_tensor(channels, 8, -5000, 5000).cast(DType::kInt32));
    const auto y =
        b.node("QLinearConv",
               {x, b.scalar(0.016f), b.constant(Tensor::of<int64_t>({-9}, {}).cast(DType::kInt8)),
                b.constant(bytes(form.w, 5, DType::kInt8)), b.random(channels, 0.001, 0.01), zeros,
                b.scalar(0.3f), b.constant(Tensor::of<int64_t>({11}, {}).cast(DType::kInt8)), bias},
               attributes);
    // The scale is rounded to float: a sum may lie on the other side of a tie.
    expect_equal(b.finish({y}), {bytes(form.x, 3, DType::kInt8)}, 1);
  }
}

TEST(CpuIntegerSums, SumsTheLargestProductsExactly) {
  GraphBuilder b;
  const int64_t inner = 33000;
  const auto a = b.input("a", {1, inner}, DType::kUInt8);
  const auto zero = b.constant(Tensor::of<int64_t>({0}, {}).cast(DType::kUInt8));
  const Tensor all = Tensor::of<float>(std::vector<float>(static_cast<size_t>(inner), 255), {inner, 1});
  const auto y = b.node("MatMulInteger", {a, b.constant(all.cast(DType::kUInt8)), zero});
  const Tensor row = Tensor::of<float>(std::vector<float>(static_cast<size_t>(inner), 255), {1, inner});
  expect_equal(b.finish({y}), {row.cast(DType::kUInt8)});
}

}  // namespace
}  // namespace hone::device
