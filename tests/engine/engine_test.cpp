// Engines compute what the reference computes: layouts, in-place sums, concatenation without copies,
// batch groups, dynamic shapes, bf16.
#include <gtest/gtest.h>

#include "device/cpu/cpu_device.hpp"
#include "engine/builder.hpp"
#include "engine/context.hpp"
#include "engine/description.hpp"
#include "support/equivalence.hpp"

namespace hone::engine {
namespace {

using graph::Dim;
using test::GraphBuilder;

const Device& device() { return device::cpu::cpu_device(); }

BuildOptions options(int level = 0, Precision precision = Precision::kFp32) {
  BuildOptions options;
  options.model = "test";
  options.threads = 2;
  options.optimization_level = level;
  options.precision = precision;
  options.default_batch = 2;
  return options;
}

/// A residual block with a depthwise convolution, squeeze-and-excite, and a classifier.
graph::Graph small_network() {
  GraphBuilder b;
  auto x = b.input("x", {Dim::symbol("batch"), 3, 16, 16});
  auto stem = b.node("Relu", {b.batch_norm(b.conv(x, 3, 24), 24)});
  auto deep = b.node("Relu", {b.conv(stem, 24, 24, 3, 24)});
  auto gate = b.node("Sigmoid", {b.conv(b.node("GlobalAveragePool", {deep}), 24, 24, 1)});
  auto scaled = b.node("Mul", {deep, gate});
  auto sum = b.node("Relu", {b.node("Add", {b.conv(scaled, 24, 24, 1), stem})});
  auto pooled = b.node("MaxPool", {sum},
                       {{"kernel_shape", std::vector<int64_t>{3, 3}},
                        {"strides", std::vector<int64_t>{2, 2}},
                        {"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  auto flat = b.node("Flatten", {b.node("GlobalAveragePool", {pooled})});
  auto logits = b.node("Gemm", {flat, b.random({10, 24}), b.random({10})}, {{"transB", int64_t{1}}});
  return b.finish({b.node("Softmax", {logits}), logits});
}

/// Feature lists that grow by concatenation, each read by the next layer.
graph::Graph dense_network() {
  GraphBuilder b;
  auto x = b.input("x", {Dim::symbol("batch"), 16, 8, 8});
  std::vector<graph::ValueId> features = {b.conv(x, 16, 16)};
  for (int i = 0; i < 3; ++i) {
    auto joined = b.node("Concat", features, {{"axis", int64_t{1}}});
    features.push_back(b.node("Relu", {b.conv(joined, 16 * (i + 1), 16)}));
  }
  return b.finish({b.node("GlobalAveragePool", {b.node("Concat", features, {{"axis", int64_t{1}}})})});
}

void expect_matches_reference(const graph::Graph& graph, const BuildOptions& build, int64_t batch,
                              double tolerance) {
  const auto engine = build_engine(graph, device(), build);
  Context context(engine, device(), 2);
  const auto inputs = test::random_inputs(graph, 3, batch);
  const auto expected = reference::run_graph(graph, inputs);
  // The second run finds a used arena.
  for (int run = 0; run < 2; ++run) {
    const auto actual = context.run(inputs);
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_LE(test::relative_error(actual[i], expected[i]), tolerance) << "output " << i;
  }
}

TEST(Engine, SmallNetworkMatchesReference) {
  const auto graph = small_network();
  for (const int64_t batch : {1, 2, 5})
    expect_matches_reference(graph, options(), batch, test::rounding_tolerance(graph));
}

TEST(Engine, DenseNetworkMatchesReference) {
  const auto graph = dense_network();
  for (const int64_t batch : {1, 3})
    expect_matches_reference(graph, options(), batch, test::rounding_tolerance(graph));
}

TEST(Engine, SearchedTacticsMatchReference) {
  for (const auto& graph : {small_network(), dense_network()}) {
    expect_matches_reference(graph, options(3), 4, test::rounding_tolerance(graph));
  }
}

TEST(Engine, Bf16StaysWithinItsPrecision) {
  // bfloat16 keeps 8 bits: half a unit in the last place is 2^-9 a rounding, a handful of them in a row.
  const auto graph = small_network();
  expect_matches_reference(graph, options(0, Precision::kBf16), 2, 16 * 0x1p-9);
}

/// Five values for five rows, where there are five columns as well.
TEST(Engine, BiasOfRowsIsNoBiasOfColumns) {
  GraphBuilder b;
  auto x = b.input("x", {5, 4});
  auto gemm = b.node("Gemm", {x, b.random({4, 5}), b.random({5, 1})});
  auto sum = b.node("Add", {b.node("MatMul", {x, b.random({4, 5})}), b.random({5, 1})});
  const auto graph = b.finish({gemm, sum});
  expect_matches_reference(graph, options(), 5, 1e-5);
  expect_matches_reference(graph, options(2), 5, 1e-5);
}

TEST(Engine, ConcatenationOfOneImageCopiesNothing) {
  const auto engine = build_engine(dense_network(), device(), options());
  Context context(engine, device(), 2);
  for (const ProgramStep& step : context.program(std::vector<Shape>{{1, 16, 8, 8}}).steps())
    EXPECT_NE(step.kind, "Concat") << step.name;
}

TEST(Engine, BatchGroupsGiveTheSameOutputs) {
  const auto graph = small_network();
  ASSERT_TRUE(splits_by_batch(*build_engine(graph, device(), options())->graph));
  const auto inputs = test::random_inputs(graph, 5, 7);
  const auto whole = build_engine(graph, device(), options());
  const auto grouped = build_engine(graph, device(), options());
  grouped->micro_batch = 3;
  const auto expected = Context(whole, device(), 2).run(inputs);
  const auto actual = Context(grouped, device(), 2).run(inputs);
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_LE(test::relative_error(actual[i], expected[i]), 1e-6);
}

TEST(Engine, SoftmaxOverTheBatchForbidsGroups) {
  GraphBuilder b;
  auto x = b.input("x", {Dim::symbol("batch"), 4});
  const auto graph = b.finish({b.node("Softmax", {x}, {{"axis", int64_t{0}}})});
  EXPECT_FALSE(splits_by_batch(graph));
}

TEST(Engine, ShapesThatDependOnDataStillRun) {
  GraphBuilder b;
  auto x = b.input("x", {Dim::symbol("n"), 4});
  auto where = b.node("NonZero", {b.node("Relu", {x})});
  const auto graph = b.finish({where, b.node("Exp", {x})});
  expect_matches_reference(graph, options(), 3, test::rounding_tolerance(graph));
}

TEST(Engine, OutputsThatAreInputsAndConstants) {
  GraphBuilder b;
  auto x = b.input("x", {Dim::symbol("n"), 4});
  const auto graph = b.finish({x, b.random({2, 2}), b.node("Reshape", {x, b.ints({-1})})});
  expect_matches_reference(graph, options(), 3, 0);
}

TEST(Engine, KnowsWhatAContextTakes) {
  GraphBuilder b;
  const auto x = b.input("x", {2, 3});
  const auto table = b.random({2, 3});
  const auto sum = b.node("Add", {b.node("Mul", {x, table}), table});
  const auto engine = build_engine(b.finish({sum, b.node("ReduceSum", {sum})}), device(), options());
  LoadedEngine loaded(engine, device(), 1);
  const std::vector<Shape> shapes = {{2, 3}};
  const auto made = loaded.program(shapes);
  const Program& program = *made;
  EXPECT_EQ(program.constant_bytes(), 24) << "a constant that two steps read is there once";
  EXPECT_EQ(program.io_bytes(), 24 + 24 + 4);
  const Description description = describe(loaded, shapes);
  EXPECT_EQ(description.planned_bytes(), description.packed_bytes + 24 + program.activation_bytes() + 52);
}

/// As tensors of one file that begin together are.
TEST(Engine, ConstantsOfTwoSizesAtOneAddressAreTwo) {
  const auto table = test::random_tensor({4, 3}, 1);
  GraphBuilder b;
  const auto few = b.constant(tensor::Tensor(table.dtype(), {3}, table.bytes(), nullptr));
  const auto scaled = b.node("Mul", {b.input("x", {4, 3}), few});
  const auto graph = b.finish({b.node("Softmax", {scaled}), b.node("Add", {scaled, b.constant(table)})});
  BuildOptions build = options();
  build.disabled_passes = {"elementwise_fusion"};
  Context context(build_engine(graph, device(), build), device(), 1);
  EXPECT_EQ(context.program(std::vector<Shape>{{4, 3}}).constant_bytes(), (3 + 12) * 4);
  expect_matches_reference(graph, build, 1, test::rounding_tolerance(graph));
}

TEST(Engine, SubmittedRunsAreRuns) {
  GraphBuilder b;
  const auto engine = build_engine(b.finish({b.node("Neg", {b.input("x", {3})})}), device(), options());
  Context context(engine, device(), 1);
  const std::vector<Shape> shapes = {{3}};
  const auto execution = context.execution(shapes);
  const std::vector<tensor::Tensor> inputs = {tensor::Tensor::of<float>({1, 2, 3}, {3})};
  execution->upload(inputs);
  for (int i = 0; i < 5; ++i) execution->executor().submit(true);
  execution->executor().finish();
  EXPECT_EQ(execution->executor().download()[0].values<float>()[2], -3);
  const PhaseTimes times = execution->executor().time_phases(false);
  EXPECT_GT(times.enqueue_us, 0);
  EXPECT_EQ(times.device_us, 0) << "the host has no clock of a device";
}

TEST(Engine, ShapeOutsideTheRangeIsRefused) {
  BuildOptions build = options();
  build.shapes["x"] = {{1, 3, 16, 16}, {2, 3, 16, 16}, {4, 3, 16, 16}};
  const auto graph = small_network();
  const auto engine = build_engine(graph, device(), build);
  Context context(engine, device(), 1);
  context.run(test::random_inputs(graph, 1, 4));
  try {
    context.run(test::random_inputs(graph, 1, 5));
    FAIL() << "batch 5 was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_STREQ(error.what(),
                 "input 'x' has shape 5x3x16x16, the engine was built for 1x3x16x16 to 4x3x16x16");
  }
}

TEST(Engine, AnotherShapeThanTheOnlyOneIsRefusedWithTheWayToARange) {
  BuildOptions build = options();
  build.shapes["x"] = {{1, 3, 16, 16}, {1, 3, 16, 16}, {1, 3, 16, 16}};
  const auto graph = small_network();
  Context context(build_engine(graph, device(), build), device(), 1);
  try {
    context.run(test::random_inputs(graph, 1, 2));
    FAIL() << "batch 2 was accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "input 'x' has shape 2x3x16x16, the engine was built for 1x3x16x16 only; hone build with "
                 "--minShapes and --maxShapes makes one for a range");
  }
}

TEST(Engine, ProfilesAreChecked) {
  const auto expect_usage = [](const std::string& name, ShapeProfile profile) {
    BuildOptions build = options();
    build.shapes[name] = std::move(profile);
    EXPECT_THROW(
        {
          try {
            build_engine(small_network(), device(), build);
          } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::kUsage) << error.what();
            throw;
          }
        },
        Error);
  };
  expect_usage("nothing", {{1}, {1}, {1}});
  expect_usage("x", {{1, 3}, {1, 3}, {1, 3}});
  expect_usage("x", {{2, 3, 16, 16}, {1, 3, 16, 16}, {4, 3, 16, 16}});
  expect_usage("x", {{1, 4, 16, 16}, {1, 4, 16, 16}, {1, 4, 16, 16}});
}

}  // namespace
}  // namespace hone::engine
