// Nodes whose shapes are only known when they run, as in the heads of detectors: by the device's tactics,
// compiled for few numbers of rows.
#include "engine/program/deferred_node.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "device/cpu/cpu_device.hpp"
#include "engine/builder.hpp"
#include "engine/context.hpp"
#include "engine/description.hpp"
#include "engine/fake_device.hpp"
#include "graph/infer.hpp"
#include "graph/text/parser.hpp"
#include "support/equivalence.hpp"

namespace hone::engine {
namespace {

using tensor::Tensor;

const Device& device() { return device::cpu::cpu_device(); }

/// Rows that pass a limit go through two products, a pooling of a map around them and a few that arrange.
constexpr const char* kHead = R"(
graph (%x: float32[100, 32], %map: float32[1, 16, 20, 20]) -> (%classes, %pooled, %best) {
  %zero = const float32[] 0
  %axes = const int64[1] [1]
  %sum = ReduceSum(%x, %axes) {keepdims = 0}
  %is = Greater(%sum, %zero)
  %at = NonZero(%is)
  %last = const int64[1] [-1]
  %ids = Reshape(%at, %last)
  %rows = Gather(%x, %ids)
  %w = const float32[32, 160] seeded(1)
  %b = const float32[160] seeded(2)
  %m = MatMul(%rows, %w)
  %a = Add(%m, %b)
  %r = Relu(%a)
  %v = const float32[160, 10] seeded(3)
  %p = MatMul(%r, %v)
  %classes = Softmax(%p)
  %begin = const int64[1] [0]
  %end = const int64[1] [4]
  %column = const int64[1] [1]
  %corners = Slice(%rows, %begin, %end, %column)
  %boxes = Abs(%corners)
  %shape = Shape(%ids)
  %images = ConstantOfShape(%shape) {value = int64[1] [0]}
  %pooled = RoiAlign(%map, %boxes, %images) {output_height = 4, output_width = 4, sampling_ratio = 2, spatial_scale = 4.0}
  %one = const int64[1] [1]
  %count = Min(%shape, %one)
  %scores = ReduceMax(%classes, %axes) {keepdims = 0}
  %best, %where = TopK(%scores, %count)
})";

graph::Graph typed() {
  graph::Graph graph = graph::parse_graph(kHead);
  graph::infer_types(graph);
  return graph;
}

/// Inputs of which so many rows pass.
std::vector<Tensor> inputs(int64_t passing) {
  Tensor x = test::random_tensor({100, 32}, 5, 0.01F, 2);
  for (int64_t row = passing; row < 100; ++row) {
    for (int64_t i = 0; i < 32; ++i) x.mutable_values<float>()[static_cast<size_t>(row * 32 + i)] *= -1;
  }
  return {x, test::random_tensor({1, 16, 20, 20}, 6)};
}

void expect_reference(Context& context, const graph::Graph& graph, const std::vector<Tensor>& given) {
  const auto expected = reference::run_graph(graph, given);
  const auto actual = context.run(given);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_EQ(actual[i].shape(), expected[i].shape());
    EXPECT_LE(test::relative_error(actual[i], expected[i]), test::rounding_tolerance(graph))
        << "output " << i;
  }
}

TEST(DeferredNode, RunsWhatTheDataLeave) {
  const graph::Graph graph = typed();
  Context context(build_engine(graph, device(), {.optimization_level = 0}), device(), 1);
  for (const int64_t passing : {100, 37, 0, 1, 38, 37, 64, 99, 100})
    expect_reference(context, graph, inputs(passing));
}

TEST(DeferredNode, PadsRowsOfProductsToFewNumbers) {
  std::set<int64_t> numbers;
  for (int64_t rows = 0; rows <= 1000; ++rows) {
    const int64_t padded = padded_rows(rows);
    EXPECT_GE(padded, rows);
    EXPECT_LE(padded, rows + rows / 8);
    EXPECT_EQ(padded_rows(padded), padded);
    numbers.insert(padded);
  }
  // As many as programs are kept of a node, and none.
  EXPECT_LE(numbers.size(), 65U);
}

/// Two operands of as many rows: each row of the result is computed of all rows of the second.
constexpr const char* kPairs = R"(
graph (%x: float32[100, 32], %map: float32[1, 16, 20, 20]) -> (%similar, %both, %seen) {
  %zero = const float32[] 0
  %axes = const int64[1] [1]
  %sum = ReduceSum(%x, %axes) {keepdims = 0}
  %is = Greater(%sum, %zero)
  %rows = Compress(%x, %is) {axis = 0}
  %more = Neg(%rows)
  %similar = Gemm(%rows, %more) {transB = 1}
  %both = Gemm(%rows, %rows) {transB = 1}
  %shape = const int64[4] [0, 2, 4, 4]
  %images = Reshape(%rows, %shape)
  %filters = Neg(%images)
  %seen = Conv(%images, %filters)
})";

TEST(DeferredNode, RowsOfASecondOperandAreNotPadded) {
  graph::Graph graph = graph::parse_graph(kPairs);
  graph::infer_types(graph);
  Context context(build_engine(graph, device(), {.optimization_level = 0}), device(), 1);
  for (const int64_t passing : {17, 33, 100, 19}) expect_reference(context, graph, inputs(passing));
}

/// Counts how often it is asked for tactics, which compiling does for each node.
class CountingDevice final : public FakeDevice {
 public:
  CountingDevice() : FakeDevice({}, false) {}
  std::vector<const Tactic*> tactics(const graph::Node& node) const override {
    ++asked;
    return FakeDevice::tactics(node);
  }
  mutable int asked = 0;
};

TEST(DeferredNode, CompilesNothingForResultsThatWereMetBefore) {
  const CountingDevice counting;
  Context context(build_engine(typed(), counting, {.optimization_level = 0}), counting, 1);
  const std::vector<int64_t> results = {17, 90, 0, 64, 33};
  for (const int64_t passing : results) context.run(inputs(passing));
  const int before = counting.asked;
  EXPECT_GT(before, 0);
  for (int round = 0; round < 3; ++round) {
    for (const int64_t passing : results) context.run(inputs(passing));
  }
  EXPECT_EQ(counting.asked, before);
}

TEST(DeferredNode, IsNotTheReference) {
  const auto engine = build_engine(typed(), device(), {.optimization_level = 0});
  LoadedEngine loaded(engine, device(), 1);
  for (const StepDescription& step : describe(loaded, tuned_shapes(*engine)).steps)
    EXPECT_NE(step.tactic, "reference") << step.name;
}

}  // namespace
}  // namespace hone::engine
