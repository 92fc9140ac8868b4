// GPTQ against the form with an inverse in which it was published, and rows of layers against the layers.
#include "quantize/gptq.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "quantize/float_graph.hpp"
#include "quantize/layer_rows.hpp"
#include "support/graph_builder.hpp"

namespace hone::quantize {
namespace {

using graph::Graph;
using test::Dim;
using test::GraphBuilder;
using test::Tensor;
using test::ValueId;

/// The Gram matrix of rows that depend on each other, as neighbouring pixels do.
Gram correlated(size_t size, size_t rows, uint32_t seed) {
  const Tensor noise = test::random_tensor({static_cast<int64_t>(rows), static_cast<int64_t>(size)}, seed);
  std::vector<float> numbers(noise.values<float>().begin(), noise.values<float>().end());
  for (size_t i = 1; i < numbers.size(); ++i) numbers[i] = 0.4F * numbers[i] + 0.9F * numbers[i - 1];
  Gram gram(size);
  gram.add(numbers);
  return gram;
}

/// The matrix with its damping, both triangles.
std::vector<double> damped(const Gram& gram) {
  std::vector<double> full = gram.sums;
  double mean = 0;
  for (size_t i = 0; i < gram.size; ++i) mean += full[i * gram.size + i] / static_cast<double>(gram.size);
  for (size_t i = 0; i < gram.size; ++i) {
    full[i * gram.size + i] += mean > 0 ? 0.01 * mean : 1;
    for (size_t j = i + 1; j < gram.size; ++j) full[i * gram.size + j] = full[j * gram.size + i];
  }
  return full;
}

TEST(Gptq, FactorsTheMatrixAcrossBlocks) {
  for (const size_t size : {1U, 2U, 63U, 64U, 65U, 150U}) {
    const Gram gram = correlated(size, 2 * size + 3, 5);
    const std::vector<double> wanted = damped(gram);
    const std::vector<double> factor = gram_factor(gram);
    for (size_t i = 0; i < size; i += 1 + size / 20) {
      for (size_t j = 0; j <= i; ++j) {
        double sum = 0;
        for (size_t k = i; k < size; ++k) sum += factor[k * size + i] * factor[k * size + j];
        EXPECT_NEAR(sum, wanted[i * size + j], 1e-9 * wanted[0]) << size << " " << i << " " << j;
      }
    }
  }
}

/// Inverse by elimination.
std::vector<double> inverse(std::vector<double> a, size_t n) {
  std::vector<double> b(n * n);
  for (size_t i = 0; i < n; ++i) b[i * n + i] = 1;
  for (size_t i = 0; i < n; ++i) {
    const double pivot = a[i * n + i];
    for (size_t k = 0; k < n; ++k) a[i * n + k] /= pivot, b[i * n + k] /= pivot;
    for (size_t r = 0; r < n; ++r) {
      if (r == i) continue;
      const double factor = a[r * n + i];
      for (size_t k = 0; k < n; ++k)
        a[r * n + k] -= factor * a[i * n + k], b[r * n + k] -= factor * b[i * n + k];
    }
  }
  return b;
}

/// As the paper has it: after each column the others move by its error times the inverse of what is left of
/// the matrix.
std::vector<int> published(std::vector<double> w, double scale, std::vector<double> matrix) {
  const size_t n = w.size();
  std::vector<int> levels(n);
  for (size_t i = 0; i < n; ++i) {
    std::vector<double> rest;
    for (size_t r = i; r < n; ++r) {
      for (size_t c = i; c < n; ++c) rest.push_back(matrix[r * n + c]);
    }
    const std::vector<double> inverted = inverse(rest, n - i);
    levels[i] = static_cast<int>(std::min(127.0, std::max(-127.0, std::nearbyint(w[i] / scale))));
    const double error = (w[i] - scale * levels[i]) / inverted[0];
    for (size_t k = i; k < n; ++k) w[k] -= error * inverted[k - i];
  }
  return levels;
}

TEST(Gptq, EqualsThePublishedForm) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const size_t n = 1 + seed % 9;
    const Gram gram = correlated(n, 40, seed);
    const Tensor w = test::random_tensor({static_cast<int64_t>(n)}, seed + 100, -0.5, 0.5);
    const auto levels = gptq_levels(w.values<float>(), 0.02F, gram_factor(gram));
    const auto expected = published(w.to_double(), static_cast<double>(0.02F), damped(gram));
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(levels[i], expected[i]) << seed << " " << i;
  }
}

TEST(Gptq, RoundsToTheNearestWhereInputsDoNotDependOnEachOther) {
  Gram gram(3);
  gram.add(std::vector<float>{1, 0, 0, 0, 2, 0, 0, 0, 3});
  const auto levels = gptq_levels(std::vector<float>{0.26F, -0.24F, 500}, 0.1F, gram_factor(gram));
  EXPECT_THAT(levels, testing::ElementsAre(3, -2, 127));
  // Nothing was seen: the damping is all there is.
  EXPECT_THAT(gptq_levels(std::vector<float>{0.26F, -0.24F}, 0.1F, gram_factor(Gram(2))),
              testing::ElementsAre(3, -2));
}

TEST(Gptq, MovesResultsLessThanTheNearestLevels) {
  double by_gptq = 0;
  double by_nearest = 0;
  for (uint32_t seed = 0; seed < 30; ++seed) {
    constexpr size_t kSize = 40;
    const Gram gram = correlated(kSize, 100, seed);
    const std::vector<double> matrix = damped(gram);
    const Tensor w = test::random_tensor({kSize}, seed + 7, -1, 1);
    const auto levels = gptq_levels(w.values<float>(), 0.1F, gram_factor(gram));
    const auto loss = [&](auto&& level) {
      double sum = 0;
      for (size_t i = 0; i < kSize; ++i) {
        for (size_t j = 0; j < kSize; ++j) {
          const auto error = [&](size_t k) {
            return static_cast<double>(w.values<float>()[k]) - 0.1 * level(k);
          };
          sum += error(i) * matrix[i * kSize + j] * error(j);
        }
      }
      return sum;
    };
    by_gptq += loss([&](size_t k) { return static_cast<double>(levels[k]); });
    by_nearest +=
        loss([&](size_t k) { return std::nearbyint(static_cast<double>(w.values<float>()[k]) / 0.1); });
  }
  EXPECT_LT(by_gptq, 0.5 * by_nearest);
}

/// Weights times rows are the layer's results.
void expect_rows_give_results(const Graph& graph, int64_t axis) {
  const graph::Node& node = graph.nodes[0];
  const Tensor& weights = *graph.constant(node.inputs[1]);
  const auto rows = LayerRows::of(node, weights, axis);
  ASSERT_TRUE(rows);
  const Tensor x = test::random_tensor(
      [&] {
        tensor::Shape shape;
        for (const Dim& dim : *graph.value(graph.inputs[0]).type.dims) shape.push_back(dim.value());
        return shape;
      }(),
      3);
  const std::vector<Tensor> inputs = {x};
  const Tensor y = make_reference_runner(graph, inputs)->run(inputs)[0];
  const auto outputs = static_cast<size_t>(weights.shape()[static_cast<size_t>(axis)]);
  const bool is_conv = node.op == "Conv";
  const size_t places = static_cast<size_t>(y.size()) / outputs / static_cast<size_t>(y.shape()[0]);
  for (size_t o = 0; o < outputs; ++o) {
    const std::vector<float> read = rows->read(x, o * rows->groups() / outputs, 1);
    const size_t count = read.size() / rows->length();
    ASSERT_EQ(count, static_cast<size_t>(y.size()) / outputs);
    for (size_t r = 0; r < count; ++r) {
      double sum = 0;
      for (size_t k = 0; k < rows->length(); ++k)
        sum += static_cast<double>(read[r * rows->length() + k]) *
               static_cast<double>(weights.values<float>()[rows->weight_at(o, k)]);
      const size_t at = is_conv ? (r / places * outputs + o) * places + r % places : r * outputs + o;
      EXPECT_NEAR(sum, static_cast<double>(y.values<float>()[at]), 1e-4) << o << " " << r;
    }
  }
}

TEST(LayerRows, GiveTheResultsOfConvolutionsAndProducts) {
  using Ints = std::vector<int64_t>;
  const auto conv = [](const test::Shape& x, const test::Shape& w, const test::AttributeList& attributes) {
    GraphBuilder b;
    test::Dims dims;
    for (const int64_t size : x) dims.emplace_back(size);
    return b.finish({b.node("Conv", {b.input("x", dims), b.random(w)}, attributes)});
  };
  expect_rows_give_results(conv({2, 3, 5, 7}, {4, 3, 3, 3}, {}), 0);
  expect_rows_give_results(conv({1, 4, 6, 5}, {6, 2, 3, 2},
                                {{"group", int64_t{2}},
                                 {"pads", Ints{1, 0, 2, 1}},
                                 {"strides", Ints{2, 1}},
                                 {"dilations", Ints{1, 2}}}),
                           0);
  expect_rows_give_results(
      conv({2, 3, 6, 6}, {3, 1, 3, 3}, {{"group", int64_t{3}}, {"pads", Ints{1, 1, 1, 1}}}), 0);
  expect_rows_give_results(conv({1, 2, 9}, {3, 2, 4}, {{"strides", Ints{3}}}), 0);
  expect_rows_give_results(conv({1, 1, 4, 4, 4}, {2, 1, 2, 2, 2}, {{"pads", Ints{0, 1, 0, 1, 0, 1}}}), 0);
  GraphBuilder b;
  expect_rows_give_results(
      b.finish({b.node("MatMul", {b.input("x", {Dim(2), Dim(3), Dim(5)}), b.random({5, 4})})}), 1);
  GraphBuilder g;
  expect_rows_give_results(g.finish({g.node("Gemm", {g.input("x", {Dim(6), Dim(5)}), g.random({4, 5})},
                                            {{"transB", int64_t{1}}})}),
                           0);
}

TEST(LayerRows, PickSomeOfManyRowsAndNoneOfOtherOperators) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim(1), Dim(2), Dim(200), Dim(200)});
  const Graph graph = b.finish({b.conv(x, 2, 2, 1)});
  const auto rows = LayerRows::of(graph.nodes[0], *graph.constant(graph.nodes[0].inputs[1]), 0);
  const std::vector<float> read = rows->read(test::random_tensor({1, 2, 200, 200}, 1), 0, 4);
  EXPECT_LE(read.size(), 2U * 1024);
  EXPECT_GE(read.size(), 2U * 900);
  GraphBuilder t;
  const Graph transposed = t.finish(
      {t.node("ConvTranspose", {t.input("x", {Dim(1), Dim(2), Dim(3), Dim(3)}), t.random({2, 2, 2, 2})})});
  EXPECT_FALSE(LayerRows::of(transposed.nodes[0], *transposed.constant(transposed.nodes[0].inputs[1]), 1));
}

}  // namespace
}  // namespace hone::quantize
