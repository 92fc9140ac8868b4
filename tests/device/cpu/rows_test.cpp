// Kernels of the CPU that go along rows: pooling along one axis, norms of vectors, sums that are scattered.
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
