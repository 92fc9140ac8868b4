// Operators of detection heads on the CPU: RoiAlign, and those whose results have as many rows as the data
// say.
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "device/cpu/cpu_steps.hpp"
#include "engine/program/host_functions.hpp"
#include "reference/kernel.hpp"

namespace hone::device {
namespace {

using graph::ValueId;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using test::GraphBuilder;

using Attributes = std::vector<std::pair<std::string, graph::Attribute>>;

TEST(CpuDetection, AveragesRegions) {
  for (const char* mode : {"half_pixel", "output_half_pixel"}) {
    for (const int64_t ratio : {0, 1, 2, 5}) {
      GraphBuilder b;
      const auto map = b.input("map", {2, 19, 13, 17});
      // Inside, across each border, outside, a point, and one whose corners are the wrong way round.
      const auto boxes =
          b.constant(Tensor::of<float>({2,   3,   20, 18, -9, -7, 4,  5,  30, 20, 60, 70, 200,   200,
                                        220, 220, 5,  5,  5,  5,  20, 15, 10, 5,  0,  0,  33.9F, 25.9F},
                                       {7, 4}));
      const auto images = b.constant(Tensor::of<int64_t>({0, 1, 1, 0, 0, 1, 0}, {7}));
      const auto y = b.node("RoiAlign", {map, boxes, images},
                            {{"coordinate_transformation_mode", std::string(mode)},
                             {"output_height", int64_t{3}},
                             {"output_width", int64_t{4}},
                             {"sampling_ratio", ratio},
                             {"spatial_scale", 0.5F}});
      const graph::Graph graph = b.finish({y});
      test::expect_own_steps(graph, test::random_inputs(graph, 3, 1));
    }
  }
}

TEST(CpuDetection, RefusesRegionsOfNoImage) {
  GraphBuilder b;
  const auto map = b.input("map", {2, 3, 5, 5});
  const auto y = b.node("RoiAlign", {map, b.random({1, 4}), b.constant(Tensor::of<int64_t>({2}, {1}))},
                        {{"output_height", int64_t{40}}, {"output_width", int64_t{40}}});
  const graph::Graph graph = b.finish({y});
  EXPECT_THROW(test::expect_own_steps(graph, test::random_inputs(graph, 3, 1)), Error);
}

/// Runs the function that is registered for the operator, and the reference kernel.
void expect_same(const char* op, const std::vector<Tensor>& inputs, const Attributes& attributes = {}) {
  graph::Node node;
  node.name = node.op = op;
  for (size_t i = 0; i < inputs.size(); ++i) node.inputs.push_back(static_cast<ValueId>(i));
  node.outputs = {static_cast<ValueId>(inputs.size())};
  for (const auto& [name, value] : attributes) node.attributes.set(name, value);
  graph::complete_node(node);
  std::vector<const Tensor*> pointers;
  for (const Tensor& input : inputs) pointers.push_back(input.defined() ? &input : nullptr);
  const engine::HostFunction function = engine::find_host_function(op);
  ASSERT_NE(function, nullptr);
  const auto actual = function(node, pointers);
  const auto expected = reference::run_node(node, pointers);
  ASSERT_EQ(actual.size(), expected.size());
  EXPECT_EQ(actual[0].shape(), expected[0].shape()) << op;
  EXPECT_EQ(test::relative_error(actual[0], expected[0]), 0) << op;
}

TEST(CpuDetection, SuppressesWhatOverlaps) {
  std::mt19937 generator(3);
  std::uniform_real_distribution<float> uniform(0, 50);
  Tensor boxes(DType::kFloat32, {2, 300, 4});
  for (float& x : boxes.mutable_values<float>()) x = uniform(generator);
  Tensor scores(DType::kFloat32, {2, 3, 300});
  // Many scores are equal, some are no numbers.
  for (float& x : scores.mutable_values<float>()) x = std::floor(uniform(generator)) / 50;
  scores.mutable_values<float>()[17] = NAN;
  for (const int64_t most : {0, 5, 1000}) {
    for (const float limit : {0.0F, 0.3F, 1.0F, -0.5F}) {
      for (const int64_t centered : {0, 1}) {
        expect_same("NonMaxSuppression",
                    {boxes, scores, Tensor::of<int64_t>({most}, {1}), Tensor::of<float>({limit}, {1}),
                     Tensor::of<float>({0.25F}, {1})},
                    {{"center_point_box", centered}});
      }
    }
  }
  expect_same("NonMaxSuppression", {boxes, scores});
  expect_same("NonMaxSuppression", {boxes, scores, Tensor::of<int64_t>({9}, {}), Tensor(), Tensor()});
  expect_same("NonMaxSuppression", {Tensor(DType::kFloat32, {1, 0, 4}), Tensor(DType::kFloat32, {1, 2, 0}),
                                    Tensor::of<int64_t>({9}, {})});
}

/// As models write it that call one suppression for the boxes of all classes.
TEST(CpuDetection, SuppressesWhatOverlapsAmongClassesFarApart) {
  std::mt19937 random(5);
  constexpr int64_t kCount = 1500;
  std::uniform_real_distribution<float> place(-100, 200);
  std::uniform_real_distribution<float> size(0, 70);
  std::uniform_real_distribution<float> score(0, 1);
  for (const float apart : {0.0F, 301.0F, 1.0e6F, std::numeric_limits<float>::infinity()}) {
    std::vector<float> corners;
    std::vector<float> values;
    for (int64_t i = 0; i < kCount; ++i) {
      const float offset = i % 20 == 0 ? 0 : static_cast<float>(i % 20) * apart;
      const float y = place(random) + offset;
      const float x = place(random) + offset;
      corners.insert(corners.end(), {y, x, y + size(random), x + size(random)});
      values.push_back(score(random));
    }
    const Tensor boxes = Tensor::of<float>(corners, {1, kCount, 4});
    const Tensor scores = Tensor::of<float>(values, {1, 1, kCount});
    for (const int64_t centered : {0, 1}) {
      expect_same("NonMaxSuppression",
                  {boxes, scores, Tensor::of<int64_t>({kCount}, {}), Tensor::of<float>({0.4F}, {}), Tensor()},
                  {{"center_point_box", centered}});
    }
  }
}

TEST(CpuDetection, FindsWhatIsNotZero) {
  Tensor x = test::random_tensor({3, 5, 7}, 4, -2, 2);
  for (float& value : x.mutable_values<float>()) value = std::trunc(value);
  x.mutable_values<float>()[3] = NAN;
  x.mutable_values<float>()[4] = -0.0F;
  expect_same("NonZero", {x});
  expect_same("NonZero", {test::random_tensor({40}, 4, -2, 2).cast(DType::kBool)});
  for (const DType dtype : {DType::kInt32, DType::kInt64, DType::kUInt8})
    expect_same("NonZero", {Tensor::of<int64_t>({0, 1, 2, 0, 0, -7}, {2, 3}).cast(dtype)});
  expect_same("NonZero", {Tensor(DType::kFloat32, {0, 4})});
  expect_same("NonZero", {Tensor::scalar(1.0F)});
}

TEST(CpuDetection, KeepsWhatAMaskNames) {
  const Tensor mask = Tensor::of<bool>({true, false, true}, {3});
  for (const int64_t axis : {0, 1, -1})
    expect_same("Compress", {test::random_tensor({4, 5, 3}, 4), mask}, {{"axis", axis}});
  expect_same("Compress", {test::random_tensor({4, 5}, 4).cast(DType::kInt64), mask});
}

void expect_own(GraphBuilder& b, const std::vector<ValueId>& outputs) {
  const graph::Graph graph = b.finish(outputs);
  test::expect_own_steps(graph, test::random_inputs(graph, 3, 1));
}

TEST(CpuGeneration, MarksIndices) {
  for (const DType dtype : {DType::kInt64, DType::kInt32}) {
    for (const int64_t axis : {0, 1, -1}) {
      GraphBuilder b;
      const auto indices = b.input("i", {3, 4}, dtype);
      const auto depth = b.constant(Tensor::of<int64_t>({2}, {}));
      expect_own(b, {b.node("OneHot", {indices, depth, b.constant(Tensor::of<float>({-1, 5}, {2}))},
                            {{"axis", axis}}),
                     b.node("OneHot", {indices, depth, b.constant(Tensor::of<bool>({false, true}, {2}))},
                            {{"axis", axis}})});
    }
  }
}

TEST(CpuGeneration, KeepsTriangles) {
  for (const int64_t upper : {0, 1}) {
    for (const int64_t k : {-9, -2, 0, 3, 9}) {
      GraphBuilder b;
      const auto x = b.input("x", {2, 5, 7});
      const auto flags = b.input("f", {6, 4}, DType::kInt64);
      expect_own(b, {b.node("Trilu", {x, b.constant(Tensor::of<int64_t>({k}, {}))}, {{"upper", upper}}),
                     b.node("Trilu", {flags}, {{"upper", upper}})});
    }
  }
}

TEST(CpuMap, DividesIntegersAndCombinesBits) {
  for (const DType dtype : {DType::kInt32, DType::kInt64}) {
    GraphBuilder b;
    const auto x = b.input("x", {3, 40}, dtype);
    const auto w = b.constant(Tensor::of<int64_t>({-3, -1, 2, 7}, {4, 1, 1}).cast(dtype));
    std::vector<ValueId> outputs = {b.node("Div", {x, w}), b.node("Mod", {x, w}),
                                    b.node("Mod", {x, w}, {{"fmod", int64_t{1}}}), b.node("BitwiseNot", {x})};
    for (const char* op : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"}) outputs.push_back(b.node(op, {x, w}));
    expect_own(b, outputs);
  }
  GraphBuilder b;
  const auto x = b.input("x", {3, 40});
  expect_own(b, {b.node("Mod", {x, b.constant(Tensor::of<float>({0.3F}, {}))}, {{"fmod", int64_t{1}}})});
}

TEST(CpuMap, RefusesToDivideIntegersByZero) {
  GraphBuilder b;
  const auto x = b.input("x", {300, 1000}, DType::kInt64);
  const graph::Graph graph = b.finish({b.node("Div", {x, b.constant(Tensor::of<int64_t>({0}, {}))})});
  EXPECT_THROW(test::expect_own_steps(graph, test::random_inputs(graph, 3, 1)), Error);
}

}  // namespace
}  // namespace hone::device
