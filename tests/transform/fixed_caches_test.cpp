// Caches of a fixed capacity give what caches that grow give, and what is not known to do so is refused.
#include "transform/fixed_caches.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.hpp"
#include "graph/infer.hpp"
#include "graph/text/parser.hpp"
#include "graph/verify.hpp"
#include "reference/interpreter.hpp"

namespace hone::transform {
namespace {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

/// One layer of a decoder of two heads as exporters write it: places from the length of the cache, a causal
/// mask, a cache of keys that is repeated for twice as many heads of queries.
constexpr std::string_view kDecoder = R"(
graph (%ids: int64[batch, new], %past.key: float32[batch, 1, past, 4], %past.value: float32[batch, 1, past, 4])
    -> (%y, %present.key, %present.value) {
  %words = const float32[11, 8] seeded(1)
  %table = const float32[16, 8] seeded(2)
  %weight = const float32[8, 16] seeded(3)
  %length = Shape(%past.key) {start = 2, end = 3}
  %fresh = Shape(%ids) {start = 1, end = 2}
  %total = Add(%length, %fresh)
  %zero = const int64[] 0
  %one = const int64[] 1
  %axis0 = const int64[1] [0]
  %axis1 = const int64[1] [1]
  %axis2 = const int64[1] [2]
  %first = Squeeze(%length)
  %end = Squeeze(%total)
  %columns = Range(%zero, %end, %one)
  %rows = Range(%first, %end, %one)
  %column = Unsqueeze(%rows, %axis1)
  %sees = LessOrEqual(%columns, %column)
  %allowed = const float32[] 0
  %denied = const float32[] -3e38
  %mask = Where(%sees, %allowed, %denied)
  %places = Slice(%table, %length, %total, %axis0)
  %embedded = Gather(%words, %ids)
  %x = Add(%embedded, %places)
  %projected = MatMul(%x, %weight)
  %sizes = const int64[3] [8, 4, 4]
  %q, %k, %v = Split(%projected, %sizes) {axis = -1}
  %two = const int64[4] [0, 0, 2, 4]
  %only = const int64[4] [0, 0, 1, 4]
  %qh = Reshape(%q, %two)
  %qt = Transpose(%qh) {perm = [0, 2, 1, 3]}
  %kh = Reshape(%k, %only)
  %kt = Transpose(%kh) {perm = [0, 2, 1, 3]}
  %vh = Reshape(%v, %only)
  %vt = Transpose(%vh) {perm = [0, 2, 1, 3]}
  %present.key = Concat(%past.key, %kt) {axis = 2}
  %present.value = Concat(%past.value, %vt) {axis = 2}
  %apart = Unsqueeze(%present.key, %axis2)
  %times = const int64[5] [1, 1, 2, 1, 1]
  %repeated = Expand(%apart, %times)
  %shared = const int64[4] [0, 2, -1, 4]
  %keys = Reshape(%repeated, %shared)
  %kk = Transpose(%keys) {perm = [0, 1, 3, 2]}
  %scores = MatMul(%qt, %kk)
  %masked = Add(%scores, %mask)
  %weights = Softmax(%masked)
  %context = MatMul(%weights, %present.value)
  %back = Transpose(%context) {perm = [0, 2, 1, 3]}
  %merged = const int64[3] [0, 0, 8]
  %y = Reshape(%back, %merged)
}
)";

graph::Graph parsed(std::string_view text) {
  graph::Graph graph = graph::parse_graph(text);
  graph.sort_topologically();
  graph::infer_types(graph);
  return graph;
}

Tensor random(Shape shape, uint64_t seed) {
  Tensor tensor(DType::kFloat32, std::move(shape));
  base::Random random(seed);
  for (float& value : tensor.mutable_values<float>()) value = static_cast<float>(random.normal());
  return tensor;
}

/// The first rows of a cache [2, 1, rows, 4], and others behind them.
Tensor padded(const Tensor& cache, int64_t capacity, float beyond) {
  const int64_t rows = cache.shape()[2];
  Tensor result(DType::kFloat32, {2, 1, capacity, 4});
  for (int64_t b = 0; b < 2; ++b) {
    for (int64_t i = 0; i < capacity * 4; ++i) {
      const float value =
          i < rows * 4 ? cache.values<float>()[static_cast<size_t>(b * rows * 4 + i)] : beyond;
      result.mutable_values<float>()[static_cast<size_t>(b * capacity * 4 + i)] = value;
    }
  }
  return result;
}

void expect_equal(const Tensor& found, const Tensor& expected) {
  ASSERT_EQ(found.shape(), expected.shape());
  for (size_t i = 0; i < static_cast<size_t>(found.size()); ++i)
    EXPECT_NEAR(found.values<float>()[i], expected.values<float>()[i], 1e-5) << i;
}

TEST(FixedCaches, GiveWhatGrowingCachesGive) {
  const graph::Graph growing = parsed(kDecoder);
  graph::Graph fixed = growing;
  const std::vector<CacheEnds> ends{{1, 1}, {2, 2}};
  constexpr int64_t kCapacity = 9;
  const Refusal refusal = fix_caches(fixed, ends, kCapacity);
  ASSERT_FALSE(refusal) << refusal.text();
  EXPECT_EQ(fixed.value(fixed.inputs[1]).type.text(), "float32[batchx1x9x4]");
  EXPECT_EQ(fixed.value(fixed.outputs[1]).type.text(), "float32[batchx1x9x4]");
  EXPECT_EQ(fixed.value(fixed.inputs[3]).name, "cache_length");
  for (const int64_t past : {0, 1, 6}) {
    for (const int64_t fresh : {1, 3}) {
      const Tensor ids =
          Tensor::of<int64_t>(std::vector<int64_t>(static_cast<size_t>(2 * fresh), 7), {2, fresh});
      const Tensor keys = random({2, 1, past, 4}, 5);
      const Tensor values = random({2, 1, past, 4}, 6);
      const auto expected = reference::run_graph(growing, std::vector{ids, keys, values});
      const auto found = reference::run_graph(
          fixed, std::vector{ids, padded(keys, kCapacity, 17), padded(values, kCapacity, -9),
                             Tensor::of<int64_t>({past}, {1})});
      expect_equal(found[0], expected[0]);
      expect_equal(found[1], padded(expected[1], kCapacity, 17));
      expect_equal(found[2], padded(expected[2], kCapacity, -9));
    }
  }
}

std::string refusal_of(std::string_view text, int64_t capacity = 9) {
  graph::Graph graph = parsed(text);
  const graph::Graph before = graph;
  const std::vector<CacheEnds> ends{{1, 1}};
  const Refusal refusal = fix_caches(graph, ends, capacity);
  EXPECT_EQ(graph.nodes.size(), before.nodes.size());
  EXPECT_EQ(graph.inputs.size(), before.inputs.size());
  return refusal.text();
}

TEST(FixedCaches, WhatReadsAllTokensIsRefused) {
  EXPECT_EQ(refusal_of(R"(
graph (%x: float32[batch, new, 4], %past: float32[batch, past, 4]) -> (%y, %present) {
  %present = Concat(%past, %x) {axis = 1}
  %axes = const int64[1] [1]
  %y = ReduceSum(%present, %axes) name "sum"
}
)"),
            "node 'sum' (ReduceSum) reads all tokens");
  EXPECT_EQ(refusal_of(R"(
graph (%x: float32[batch, new, 4], %past: float32[batch, past, 4]) -> (%y, %present) {
  %present = Concat(%past, %x) {axis = 1}
  %t = Transpose(%present) {perm = [0, 2, 1]}
  %y = MatMul(%t, %present) name "product"
}
)"),
            "node 'product' (MatMul) sums over all tokens");
  EXPECT_EQ(refusal_of(R"(
graph (%x: float32[batch, new, 4], %past: float32[batch, past, 4]) -> (%y, %present) {
  %present = Concat(%past, %x) {axis = 1}
  %y = Relu(%present)
}
)"),
            "output 'y' depends on the length of the caches");
  EXPECT_EQ(refusal_of(R"(
graph (%x: float32[batch, new, 4], %past: float32[batch, past, 4]) -> (%y, %present) {
  %present = Concat(%x, %past) {axis = 1}
  %y = Relu(%x)
}
)"),
            "'present' is not 'past' with new tokens appended");
  EXPECT_EQ(refusal_of(R"(
graph (%x: float32[batch, new, 4], %past: float32[batch, past, 4]) -> (%y, %present) {
  %present = Concat(%past, %x) {axis = 1}
  %p = Relu(%past) name "relu"
  %axes = const int64[1] [1]
  %y = ReduceMax(%p, %axes)
}
)"),
            "node 'relu' (Relu) makes something whose length depends on the past in another way");
}

}  // namespace
}  // namespace hone::transform
