// Matrix products in tiles of ours against the reference: every height and width of a tile, several blocks of
// rows, columns and depth, and what may follow a product.
#include <gtest/gtest.h>

#include <algorithm>

#include "device/cpu/cpu_steps.hpp"
#include "device/cpu/tile_math.hpp"
#include "transform/pass.hpp"

namespace hone::device {
namespace {

using engine::Precision;
using tensor::Tensor;
using test::GraphBuilder;

/// The outputs when all nodes run by the tactic, which must take them.
std::vector<Tensor> run_tiled(const graph::Graph& given, Precision precision,
                              const std::vector<Tensor>& inputs) {
  graph::Graph graph = given;
  transform::optimize(graph, {});
  const engine::Device& device = device::cpu::cpu_device();
  engine::ProgramOptions options;
  options.policy = device.policy_for(precision);
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    options.plans[{static_cast<int32_t>(i), {}}] = {{"tiled_matrix", {}}, engine::Layout::kPlain, {}, 0};
  engine::WeightStore store;
  const std::shared_ptr<const engine::Program> program =
      engine::build_program(std::make_shared<const graph::Graph>(graph), device, store, options);
  const auto tiled = std::ranges::count_if(program->steps(), [](const engine::ProgramStep& step) {
    return step.plan.tactic.text() == "tiled_matrix";
  });
  EXPECT_EQ(tiled, std::ssize(graph.nodes));
  return engine::Execution(program, device).run(inputs);
}

/// Small integers, whose products are exact in every type: what differs is wrong.
Tensor integers(const tensor::Shape& shape, uint32_t seed) {
  Tensor result = test::random_tensor(shape, seed, -4, 4);
  for (float& element : result.mutable_values<float>()) element = std::trunc(element);
  return result;
}

void expect_tiles(const graph::Graph& graph, const std::vector<Tensor>& inputs) {
  const auto expected = reference::run_graph(graph, inputs);
  const engine::Device& device = device::cpu::cpu_device();
  for (const int threads : {1, 2, 7}) {
    device.set_threads(threads);
    const auto actual = run_tiled(graph, Precision::kFp32, inputs);
    EXPECT_LE(test::relative_error(actual[0], expected[0]), test::rounding_tolerance(graph));
    if (!cpu::has_tiles(cpu::TileType::kBFloat16)) continue;
    const auto half = run_tiled(graph, Precision::kBf16, inputs);
    // The result is rounded to 8 bits.
    EXPECT_LE(test::relative_error(half[0], expected[0]), 1.0 / 256) << threads << " threads";
  }
  device.set_threads(2);
}

class CpuTiledMatrix : public testing::Test {
 protected:
  void SetUp() override {
    if (!cpu::has_tiles(cpu::TileType::kFloat32)) GTEST_SKIP() << "this CPU has no AVX2";
  }
};

TEST_F(CpuTiledMatrix, TakesEverySize) {
  // Rows: each height of a tile, and more than are copied at a time. Columns: whole panels, parts of one, and
  // more than are summed at a time. Depth: one element, an odd number, and several blocks.
  std::vector<std::array<int64_t, 3>> sizes;
  for (int64_t rows = 1; rows <= 15; ++rows) sizes.push_back({rows, 40, 37});
  // Whole registers of AMX and rests of them, read where they lie and copied.
  for (const int64_t rows : {16, 17, 31, 32, 33, 48, 70}) {
    for (const int64_t depth : {40, 63, 64}) sizes.push_back({rows, depth, 100});
  }
  for (const int64_t columns : {1, 15, 16, 17, 31, 32, 33, 300}) sizes.push_back({5, 33, columns});
  for (const int64_t depth : {1, 2, 3, 512, 513, 1025, 1100}) sizes.push_back({17, depth, 290});
  sizes.push_back({515, 30, 64});
  sizes.push_back({515, 64, 64});
  for (const auto& [rows, depth, columns] : sizes) {
    SCOPED_TRACE(testing::Message() << rows << " x " << depth << " x " << columns);
    GraphBuilder b;
    const auto y = b.node("MatMul", {b.input("x", {rows, depth}), b.constant(integers({depth, columns}, 3))});
    expect_tiles(b.finish({y}), {integers({rows, depth}, 5)});
  }
}

TEST_F(CpuTiledMatrix, TakesWhatFollowsAProduct) {
  const Tensor x = integers({2, 9, 700}, 5);
  const Tensor shortcut = integers({2, 9, 65}, 7);
  for (const bool first : {false, true}) {
    GraphBuilder b;
    auto y = b.node("MatMul", {b.input("x", {2, 9, 700}), b.constant(integers({700, 65}, 3))});
    y = b.node("Add", {y, b.constant(integers({65}, 4))});
    const auto residual = b.input("shortcut", {2, 9, 65});
    if (first) y = b.node("Add", {y, residual});
    y = b.node("Relu", {y});
    if (!first) y = b.node("Add", {y, residual});
    expect_tiles(b.finish({y}), {x, shortcut});
  }
}

TEST_F(CpuTiledMatrix, TakesTransposedMatrices) {
  GraphBuilder b;
  const auto y = b.node(
      "Gemm", {b.input("x", {9, 70}), b.constant(integers({50, 70}, 3)), b.constant(integers({50}, 4))},
      {{"transB", int64_t{1}}});
  expect_tiles(b.finish({y}), {integers({9, 70}, 5)});
}

TEST_F(CpuTiledMatrix, ReadsNothingBehindAnOddRow) {
  if (!cpu::has_tiles(cpu::TileType::kBFloat16)) GTEST_SKIP() << "this CPU has no bf16 instructions";
  GraphBuilder b;
  const auto y = b.node("MatMul", {b.input("x", {2, 3}), b.constant(integers({3, 4}, 3))});
  const graph::Graph graph = b.finish({y});
  Tensor x = integers({2, 3}, 5);
  // The first row's last pair must not meet the first element of the second row.
  x.mutable_values<float>()[3] = std::numeric_limits<float>::quiet_NaN();
  const auto actual = run_tiled(graph, Precision::kBf16, {x})[0].cast(tensor::DType::kFloat32);
  for (size_t column = 0; column < 4; ++column) {
    EXPECT_TRUE(std::isfinite(actual.values<float>()[column]));
    EXPECT_TRUE(std::isnan(actual.values<float>()[4 + column]));
  }
}

}  // namespace
}  // namespace hone::device
