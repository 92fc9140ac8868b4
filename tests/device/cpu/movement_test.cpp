// Operators of the CPU that move, choose, compare and convert elements, against the reference.
#include <gtest/gtest.h>

#include "device/cpu/cpu_steps.hpp"

namespace hone::device {
namespace {

using graph::ValueId;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using test::AttributeList;
using test::GraphBuilder;

using Ints = std::vector<int64_t>;

void expect_moves(GraphBuilder& b, const std::vector<ValueId>& outputs) {
  const graph::Graph graph = b.finish(outputs);
  test::expect_own_steps(graph, test::random_inputs(graph, 3, 1));
}

TEST(CpuMovement, SlicesInAnySteps) {
  struct Case {
    Ints starts, ends, axes, steps;
  };
  for (const Case& c : {Case{{1}, {3}, {1}, {1}},
                        {{0, 2}, {9, 7}, {-1, 2}, {2, 1}},
                        {{-1}, {-9}, {3}, {-1}},
                        {{16}, {48}, {1}, {1}},
                        {{5}, {5}, {0}, {1}},
                        {{-2, 8}, {0, -99}, {2, 3}, {-2, -3}}}) {
    GraphBuilder b;
    const auto image = b.conv(b.input("x", {2, 48, 6, 9}), 48, 48, 3, 48);
    expect_moves(
        b, {b.node("Slice", {image, b.ints(c.starts), b.ints(c.ends), b.ints(c.axes), b.ints(c.steps)})});
  }
}

TEST(CpuMovement, SplitsAnyAxis) {
  for (const auto& [axis, lengths] :
       {std::pair<int64_t, Ints>{1, {16, 32}}, {1, {5, 43}}, {3, {4, 4, 1}}, {0, {1, 1}}, {2, {6, 0}}}) {
    GraphBuilder b;
    const auto image = b.conv(b.input("x", {2, 48, 6, 9}), 48, 48, 3, 48);
    expect_moves(
        b, b.nodes("Split", {image, b.ints(lengths)}, static_cast<int>(lengths.size()), {{"axis", axis}}));
  }
}

TEST(CpuMovement, PadsInEveryMode) {
  for (const char* mode : {"constant", "edge", "reflect", "wrap"}) {
    for (const Ints& pads :
         {Ints{0, 0, 1, 1, 0, 0, 1, 1}, {1, 0, 2, 3, 0, 2, 0, 1}, {0, 0, -1, 2, 0, 0, 3, -2}}) {
      for (const int64_t channels : {16, 7}) {
        GraphBuilder b;
        const auto image = b.conv(b.input("x", {2, channels, 6, 9}), channels, channels);
        std::vector<ValueId> inputs = {image, b.ints(pads)};
        if (std::string_view(mode) == "constant") inputs.push_back(b.scalar(1.5f));
        expect_moves(b, {b.node("Pad", inputs, {{"mode", std::string(mode)}})});
      }
    }
  }
}

TEST(CpuMovement, ExpandsAndTiles) {
  GraphBuilder b;
  const auto x = b.input("x", {3, 1, 5});
  const auto expanded = b.node("Expand", {x, b.ints({2, 3, 4, 5})});
  const auto column = b.node("Expand", {b.input("c", {4, 1}), b.ints({4, 33})});
  const auto tiled = b.node("Tile", {x, b.ints({2, 3, 2})});
  expect_moves(b, {expanded, column, tiled});
}

TEST(CpuMovement, ResizesToNearestNeighbours) {
  const std::vector<float> scales[] = {{1, 1, 2, 2},       {1, 1, 4, 4}, {1, 1, 3, 3}, {1, 1, 1.5f, 2.25f},
                                       {1, 1, 0.5f, 0.5f}, {1, 2, 1, 1}, {2, 1, 1, 2}};
  for (const char* coordinates : {"asymmetric", "half_pixel", "align_corners"}) {
    for (const char* nearest : {"floor", "round_prefer_floor"}) {
      for (const std::vector<float>& scale : scales) {
        GraphBuilder b;
        const auto image = b.conv(b.input("x", {2, 16, 6, 10}), 16, 16);
        const auto sizes = b.constant(Tensor::of<float>(scale, {4}));
        expect_moves(b, {b.node("Resize", {image, graph::kNoValue, sizes},
                                {{"mode", std::string("nearest")},
                                 {"nearest_mode", std::string(nearest)},
                                 {"coordinate_transformation_mode", std::string(coordinates)}})});
      }
    }
  }
}

TEST(CpuMovement, MovesElementsOfEverySize) {
  for (const DType dtype : {DType::kUInt8, DType::kInt16, DType::kInt32, DType::kInt64, DType::kFloat64}) {
    GraphBuilder b;
    const auto x = b.input("x", {3, 4, 12}, dtype);
    const auto doubled = b.node("Tile", {x, b.ints({1, 1, 2})});
    const auto backwards = b.node("Slice", {x, b.ints({-1}), b.ints({-99}), b.ints({2}), b.ints({-1})});
    const auto padded = b.node("Pad", {x, b.ints({0, 1, 2, 1, 0, 3})});
    expect_moves(b, {doubled, backwards, padded});
  }
}

TEST(CpuMap, ComparesAndChooses) {
  const Shape others[] = {{2, 3, 40}, {3, 1}, {40}, {}, {2, 1, 1}};
  for (const DType dtype : {DType::kFloat32, DType::kInt32, DType::kInt64}) {
    for (const Shape& other : others) {
      GraphBuilder b;
      const auto x = b.input("x", {2, 3, 40}, dtype);
      const auto y = b.constant(test::random_tensor(other, 9, -2, 2).cast(dtype));
      std::vector<ValueId> results;
      for (const char* op : {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}) {
        results.push_back(b.node(op, {x, y}));
        results.push_back(b.node("Where", {results.back(), x, y}));
      }
      results.push_back(b.node("Not", {results[0]}));
      for (const char* op : {"And", "Or", "Xor"}) results.push_back(b.node(op, {results[0], results[2]}));
      expect_moves(b, results);
    }
  }
}

TEST(CpuMap, BroadcastsBothOperands) {
  for (const DType dtype : {DType::kFloat32, DType::kInt32, DType::kInt64}) {
    GraphBuilder b;
    const auto x = b.input("x", {5, 1, 7}, dtype);
    const auto y = b.input("y", {4, 1}, dtype);
    std::vector<ValueId> results;
    for (const char* op : {"Add", "Sub", "Mul", "Max", "Min"}) results.push_back(b.node(op, {x, y}));
    expect_moves(b, results);
  }
}

TEST(CpuMap, CastsWhatIsOutOfRangeToo) {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> elements = {0,
                                 -0.0f,
                                 1.5f,
                                 -1.5f,
                                 255.5f,
                                 -129,
                                 1e10f,
                                 -1e20f,
                                 infinity,
                                 -infinity,
                                 std::numeric_limits<float>::quiet_NaN(),
                                 65519,
                                 65520,
                                 6e-8f,
                                 1e-9f,
                                 2049};
  elements.resize(37, 3.7f);
  const DType targets[] = {DType::kFloat16, DType::kBFloat16, DType::kFloat64, DType::kInt8,
                           DType::kUInt8,   DType::kInt32,    DType::kInt64,   DType::kBool};
  for (const DType target : targets) {
    GraphBuilder b;
    const auto x = b.input("x", {37});
    const auto there = b.node("Cast", {x}, {{"to", static_cast<int64_t>(target)}});
    const auto back = b.node("Cast", {there}, {{"to", static_cast<int64_t>(DType::kFloat32)}});
    test::expect_own_steps(b.finish({there, back}), {Tensor::of<float>(elements, {37})});
  }
}

TEST(CpuMovement, SlicesNothing) {
  GraphBuilder b;
  const auto x = b.input("x", {2, 3, 8});
  const graph::Graph graph = b.finish({b.node("Slice", {x, b.ints({8}), b.ints({9}), b.ints({2})})});
  test::expect_own_steps(graph, test::random_inputs(graph, 3, 1));
}

TEST(CpuMovement, TransposesImagesToPixelsAndBack) {
  GraphBuilder b;
  const auto x = b.input("x", {2, 16, 5, 6});
  const auto image = b.conv(x, 16, 32);
  const auto pixels = b.node("Transpose", {image}, {{"perm", std::vector<int64_t>{0, 2, 3, 1}}});
  const auto norm = b.node("LayerNormalization", {pixels, b.random({32}), b.random({32})});
  const auto back = b.node("Transpose", {norm}, {{"perm", std::vector<int64_t>{0, 3, 1, 2}}});
  // The image and its pixels are read again after them.
  const auto sum = b.node("Add", {back, image});
  const graph::Graph graph = b.finish({b.conv(sum, 32, 8), pixels});
  test::expect_own_steps(graph, test::random_inputs(graph, 3, 1));
}

}  // namespace
}  // namespace hone::device
