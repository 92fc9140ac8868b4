// Operators of the CPU that read by index, order, accumulate or sample, against the reference.
#include <gtest/gtest.h>

#include <random>

#include "base/error.hpp"
#include "device/cpu/cpu_steps.hpp"

namespace hone::device {
namespace {

using graph::ValueId;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using test::GraphBuilder;

/// Indices from -length to length - 1.
ValueId indices(GraphBuilder& b, const Shape& shape, int64_t length, DType dtype = DType::kInt64) {
  std::mt19937 generator(11);
  std::vector<int64_t> values(static_cast<size_t>(tensor::element_count(shape)));
  for (int64_t& value : values)
    value = static_cast<int64_t>(generator() % static_cast<uint32_t>(2 * length)) - length;
  return b.constant(Tensor::of<int64_t>(values, shape).cast(dtype));
}

void expect_own(GraphBuilder& b, const std::vector<ValueId>& outputs) {
  const graph::Graph graph = b.finish(outputs);
  test::expect_own_steps(graph, test::random_inputs(graph, 3, 1));
}

TEST(CpuIndexing, GathersAlongAnyAxis) {
  for (const DType dtype : {DType::kFloat32, DType::kInt64, DType::kUInt8}) {
    for (const int64_t axis : {0, 1, -1}) {
      GraphBuilder b;
      const auto x = b.input("x", {5, 6, 7}, dtype);
      const int64_t length = axis == 0 ? 5 : axis == 1 ? 6 : 7;
      const auto some = b.node("Gather", {x, indices(b, {3, 2}, length)}, {{"axis", axis}});
      const auto one = b.node("Gather", {x, indices(b, {}, length, DType::kInt32)}, {{"axis", axis}});
      Shape shape = {5, 6, 7};
      shape[static_cast<size_t>(axis < 0 ? 2 : axis)] = 4;
      const auto elements = b.node("GatherElements", {x, indices(b, shape, length)}, {{"axis", axis}});
      const auto scattered =
          b.node("ScatterElements",
                 {x, indices(b, shape, length), b.constant(test::random_tensor(shape, 2).cast(dtype))},
                 {{"axis", axis}});
      expect_own(b, {some, one, elements, scattered});
    }
  }
}

TEST(CpuIndexing, GathersAndScattersTuples) {
  GraphBuilder b;
  const auto x = b.input("x", {4, 4, 6});
  const auto slices = b.node("GatherND", {x, indices(b, {3, 5, 2}, 4)});
  const auto batched = b.node("GatherND", {x, indices(b, {4, 3, 1}, 4)}, {{"batch_dims", int64_t{1}}});
  const auto scattered = b.node("ScatterND", {x, indices(b, {3, 2}, 4), b.random({3, 6})});
  expect_own(b, {slices, batched, scattered});
}

TEST(CpuIndexing, RefusesIndicesOutsideOfTheAxis) {
  GraphBuilder b;
  const auto x = b.input("x", {300, 300});
  const graph::Graph graph = b.finish({b.node("Gather", {x, b.ints({2, 300})})});
  EXPECT_THROW(test::expect_own_steps(graph, test::random_inputs(graph, 3, 1)), Error);
}

TEST(CpuIndexing, OrdersAnyAxis) {
  for (const int64_t axis : {0, 1, 2}) {
    for (const int64_t largest : {0, 1}) {
      for (const DType dtype : {DType::kFloat32, DType::kInt32}) {
        GraphBuilder b;
        const auto x = b.input("x", {6, 40, 9}, dtype);
        const auto y = b.nodes("TopK", {x, b.ints({5})}, 2, {{"axis", axis}, {"largest", largest}});
        expect_own(b, y);
      }
    }
  }
}

TEST(CpuIndexing, AccumulatesAlongAnyAxis) {
  for (const int64_t axis : {0, 1, -1}) {
    for (const int64_t exclusive : {0, 1}) {
      for (const int64_t reverse : {0, 1}) {
        GraphBuilder b;
        const auto x = b.input("x", {3, 21, 1100});
        const auto at = b.constant(Tensor::of<int64_t>({axis}, {}));
        expect_own(b, {b.node("CumSum", {x, at}, {{"exclusive", exclusive}, {"reverse", reverse}})});
      }
    }
  }
}

/// As models count the positions of tokens; sums beyond the range wrap around.
template <class T>
void expect_integer_sums(graph::DType dtype) {
  const std::vector<T> elements = {1, 0, 2, std::numeric_limits<T>::max(), 5, -7, 1, 1, 0, 3, 4, -9};
  for (const int64_t axis : {0, 1, -1}) {
    for (const int64_t exclusive : {0, 1}) {
      for (const int64_t reverse : {0, 1}) {
        GraphBuilder b;
        const auto x = b.input("x", {2, 3, 2}, dtype);
        const auto at = b.constant(Tensor::of<int64_t>({axis}, {}));
        const auto y = b.node("CumSum", {x, at}, {{"exclusive", exclusive}, {"reverse", reverse}});
        test::expect_own_steps(b.finish({y}), {Tensor::of<T>(elements, {2, 3, 2})});
      }
    }
  }
}

TEST(CpuIndexing, AddsUpIntegers) {
  expect_integer_sums<int32_t>(graph::DType::kInt32);
  expect_integer_sums<int64_t>(graph::DType::kInt64);
}

TEST(CpuIndexing, SamplesGrids) {
  for (const char* mode : {"linear", "nearest"}) {
    for (const char* padding : {"zeros", "border", "reflection"}) {
      for (const int64_t align : {0, 1}) {
        if (std::string_view(mode) == "nearest" && std::string_view(padding) == "reflection") continue;
        GraphBuilder b;
        const auto x = b.input("x", {2, 3, 9, 11});
        const auto grid = b.random({2, 17, 19, 2}, -1.7, 1.7);
        expect_own(b, {b.node("GridSample", {x, grid},
                              {{"mode", std::string(mode)},
                               {"padding_mode", std::string(padding)},
                               {"align_corners", align}})});
      }
    }
  }
}

TEST(CpuIndexing, InterpolatesAnyAxes) {
  const std::vector<float> scales[] = {
      {1, 1, 2, 2}, {1, 1, 1.7f, 0.6f}, {1, 2, 1, 1}, {1, 1, 1, 2.5f}, {2, 1, 2, 1}};
  for (const char* mode : {"linear", "cubic"}) {
    for (const char* coordinates : {"asymmetric", "half_pixel", "align_corners"}) {
      for (const std::vector<float>& scale : scales) {
        GraphBuilder b;
        const auto image = b.input("x", {2, 5, 6, 10});
        const auto sizes = b.constant(Tensor::of<float>(scale, {4}));
        expect_own(b, {b.node("Resize", {image, graph::kNoValue, sizes},
                              {{"mode", std::string(mode)},
                               {"coordinate_transformation_mode", std::string(coordinates)}})});
      }
    }
  }
}

TEST(CpuIndexing, TransposesElementsOfEightBytes) {
  GraphBuilder b;
  const auto x = b.input("x", {3, 4, 5}, DType::kInt64);
  expect_own(b, {b.node("Transpose", {x}, {{"perm", std::vector<int64_t>{2, 0, 1}}})});
}

/// As outputs of transposed convolutions of volumes are moved to their places.
TEST(CpuIndexing, TransposesManyDimensions) {
  for (const DType dtype : {DType::kFloat32, DType::kInt64}) {
    GraphBuilder b;
    const auto x = b.input("x", {1, 3, 2, 2, 2, 4, 5, 6}, dtype);
    const auto y = b.input("y", {2, 1, 3, 2, 2, 1, 2, 2, 3, 2, 2}, dtype);
    expect_own(
        b, {b.node("Transpose", {x}, {{"perm", std::vector<int64_t>{0, 1, 5, 2, 6, 3, 7, 4}}}),
            b.node("Transpose", {y}, {{"perm", std::vector<int64_t>{10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}}})});
  }
}

TEST(CpuIndexing, ClipsToComputedBounds) {
  GraphBuilder b;
  const auto x = b.input("x", {3, 50});
  const auto low = b.node("Neg", {b.input("low", {})});
  expect_own(b,
             {b.node("Clip", {x, low, b.input("high", {})}), b.node("Clip", {x, b.scalar(1), b.scalar(0)})});
}

}  // namespace
}  // namespace hone::device
