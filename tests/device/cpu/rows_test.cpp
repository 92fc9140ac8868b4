// Kernels of the CPU that go along rows: pooling of plain images, norms of vectors, sums that are scattered.
#include <gtest/gtest.h>

#include "device/cpu/cpu_steps.hpp"

namespace hone::device {
namespace {

using graph::ValueId;
using tensor::DType;
using tensor::Tensor;
using test::GraphBuilder;
using Ints = std::vector<int64_t>;

void expect_own(GraphBuilder& b, const std::vector<ValueId>& outputs) {
  const graph::Graph graph = b.finish(outputs);
  test::expect_own_steps(graph, test::random_inputs(graph, 3, 1));
}

TEST(CpuRows, ArePooled) {
  for (const int64_t length : {7, 40, 401}) {
    for (const int64_t kernel : {1, 2, 3, 5}) {
      for (const int64_t stride : {1, 2, 3}) {
        GraphBuilder b;
        const auto x = b.input("x", {2, 5, length});
        std::vector<ValueId> outputs;
        for (const Ints& pads : {Ints{0, 0}, Ints{(kernel - 1) / 2, kernel / 2}}) {
          const test::AttributeList window = {
              {"kernel_shape", Ints{kernel}}, {"strides", Ints{stride}}, {"pads", pads}};
          test::AttributeList counted = window;
          counted.emplace_back("count_include_pad", int64_t{1});
          test::AttributeList dilated = window;
          dilated.emplace_back("dilations", Ints{1});
          outputs.push_back(b.node("AveragePool", {x}, window));
          outputs.push_back(b.node("AveragePool", {x}, counted));
          outputs.push_back(b.node("MaxPool", {x}, dilated));
        }
        expect_own(b, outputs);
      }
    }
  }
}

TEST(CpuRows, ArePooledWithHolesAndBeyondTheirEnd) {
  GraphBuilder b;
  const auto x = b.input("x", {1, 3, 23});
  expect_own(
      b,
      {b.node("MaxPool", {x}, {{"kernel_shape", Ints{3}}, {"dilations", Ints{4}}, {"pads", Ints{2, 5}}}),
       b.node("AveragePool", {x}, {{"kernel_shape", Ints{3}}, {"dilations", Ints{2}}}),
       b.node("AveragePool", {x},
              {{"kernel_shape", Ints{4}},
               {"strides", Ints{3}},
               {"pads", Ints{1, 1}},
               {"ceil_mode", int64_t{1}},
               {"count_include_pad", int64_t{1}}}),
       b.node("MaxPool", {x}, {{"kernel_shape", Ints{4}}, {"strides", Ints{3}}, {"ceil_mode", int64_t{1}}})});
}

TEST(CpuRows, ArePooledAcrossImages) {
  const test::AttributeList small = {
      {"kernel_shape", Ints{3, 2}}, {"strides", Ints{2, 1}}, {"pads", Ints{1, 0, 1, 1}}};
  const test::AttributeList beyond = {{"kernel_shape", Ints{4, 3}},
                                      {"strides", Ints{3, 2}},
                                      {"pads", Ints{1, 1, 1, 1}},
                                      {"ceil_mode", int64_t{1}}};
  const test::AttributeList holes = {
      {"kernel_shape", Ints{2, 3}}, {"dilations", Ints{3, 2}}, {"pads", Ints{2, 1, 1, 2}}};
  test::AttributeList counted = beyond;
  counted.emplace_back("count_include_pad", int64_t{1});
  GraphBuilder b;
  const auto image = b.input("image", {2, 3, 11, 23});
  const auto volume = b.input("volume", {1, 2, 5, 6, 7});
  const graph::Graph graph = b.finish(
      {b.node("MaxPool", {image}, small), b.node("AveragePool", {image}, small),
       b.node("MaxPool", {image}, beyond), b.node("AveragePool", {image}, beyond),
       b.node("AveragePool", {image}, counted), b.node("MaxPool", {image}, holes),
       b.node("AveragePool", {image}, holes),
       b.node("MaxPool", {volume}, {{"kernel_shape", Ints{2, 3, 2}}, {"pads", Ints{1, 1, 0, 0, 1, 1}}}),
       b.node("AveragePool", {volume}, {{"kernel_shape", Ints{3, 2, 4}}})});
  const auto inputs = test::random_inputs(graph, 3, 1);
  const auto expected = reference::run_graph(graph, inputs);
  const engine::Device& device = cpu::cpu_device();
  for (const int threads : {1, 2, 7}) {
    device.set_threads(threads);
    engine::ProgramOptions options;
    for (size_t i = 0; i < graph.nodes.size(); ++i)
      options.plans[{static_cast<int32_t>(i), {}}] = {{"row_pooling", {}}, engine::Layout::kPlain, {}, 0};
    engine::WeightStore weights;
    const std::shared_ptr<const engine::Program> program =
        engine::build_program(std::make_shared<const graph::Graph>(graph), device, weights, options);
    for (const engine::ProgramStep& step : program->steps())
      EXPECT_EQ(step.plan.tactic.text(), "row_pooling") << step.name;
    const auto actual = engine::Execution(program, device).run(inputs);
    for (size_t i = 0; i < actual.size(); ++i)
      EXPECT_LE(test::relative_error(actual[i], expected[i]), test::rounding_tolerance(graph)) << i;
  }
  device.set_threads(2);
}

TEST(CpuRows, AreDividedByTheirNorm) {
  for (const int64_t p : {1, 2}) {
    for (const int64_t axis : {0, 1, -1}) {
      GraphBuilder b;
      const auto x = b.input("x", {3, 5, 70});
      expect_own(b, {b.node("LpNormalization", {x}, {{"axis", axis}, {"p", p}}),
                     b.node("LpNormalization", {b.filled({3, 5, 7}, 0)}, {{"axis", axis}, {"p", p}})});
    }
  }
}

TEST(CpuRows, AreBroughtToMean0AndVariance1) {
  for (const Ints& axes : {Ints{0, 2, 3}, Ints{2, 3}, Ints{-1}, Ints{0, 1, 2, 3}}) {
    GraphBuilder b;
    expect_own(b, {b.node("MeanVarianceNormalization", {b.input("x", {2, 3, 9, 20})}, {{"axes", axes}})});
  }
}

TEST(CpuRows, AreAddedWhereIndicesSay) {
  GraphBuilder b;
  const auto x = b.input("x", {6, 40});
  const auto rows = b.constant(Tensor::of<int64_t>({0, 5, 0, -1, 3}, {5, 1}));
  Tensor places(DType::kInt64, {4, 40});
  for (size_t i = 0; i < 160; ++i) places.mutable_values<int64_t>()[i] = static_cast<int64_t>(i * 7 % 6);
  const test::AttributeList add = {{"reduction", std::string("add")}};
  expect_own(b, {b.node("ScatterND", {x, rows, b.random({5, 40})}, add),
                 b.node("ScatterElements", {x, b.constant(places), b.random({4, 40})}, add)});
}

}  // namespace
}  // namespace hone::device
