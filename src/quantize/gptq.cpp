// See gptq.hpp.
#include "quantize/gptq.hpp"

#include <algorithm>
#include <cmath>

#include "base/clock.hpp"
#include "quantize/captured.hpp"
#include "quantize/layer_rows.hpp"

namespace hone::quantize {
namespace {

using graph::Graph;
using graph::Node;
using tensor::Tensor;

constexpr double kDamping = 0.01;
constexpr double kHighest = 127;
constexpr size_t kLongestRow = 8192;
/// Number of factor rows that are computed before they update the rest of the matrix, so that they stay in
/// the cache.
constexpr size_t kBlock = 64;

/// Computes row j of the factor in place from the rest of the matrix: the entries up to j.
void finish_row(std::vector<double>& matrix, size_t size, size_t j) {
  double* const row = matrix.data() + j * size;
  const double diagonal = std::sqrt(std::max(row[j], 1e-300));
  for (size_t i = 0; i < j; ++i) row[i] /= diagonal;
  row[j] = diagonal;
}

/// matrix[a, b] -= sum over rows j of [first, last) of L[j, a] * L[j, b], for b <= a < end.
void subtract_rows(std::vector<double>& matrix, size_t size, size_t first, size_t last, size_t begin,
                   size_t end) {
  const auto rows = static_cast<int64_t>(end);
#pragma omp parallel for schedule(dynamic, 16) if (end - begin > kBlock)
  for (int64_t a = static_cast<int64_t>(begin); a < rows; ++a) {
    double* const target = matrix.data() + static_cast<size_t>(a) * size;
    for (size_t j = first; j < last; ++j) {
      const double* const row = matrix.data() + j * size;
      const double factor = row[a];
      for (int64_t b = 0; b <= a; ++b) target[b] -= factor * row[b];
    }
  }
}

QuantizedWeights rounded(const Tensor& weights, const WeightedNode& weighted, const LayerRows& rows,
                         const std::vector<std::vector<double>>& factors) {
  QuantizedWeights result = quantize_weights(weights, weighted.axis);
  const auto values = weights.values<float>();
  const auto integers = result.integers.mutable_values<int8_t>();
  const auto outputs = static_cast<int64_t>(result.scales.size());
#pragma omp parallel for schedule(dynamic)
  for (int64_t output = 0; output < outputs; ++output) {
    const auto o = static_cast<size_t>(output);
    std::vector<float> row(rows.length());
    for (size_t k = 0; k < row.size(); ++k) row[k] = values[rows.weight_at(o, k)];
    const size_t group = o * factors.size() / static_cast<size_t>(outputs);
    const std::vector<int8_t> levels = gptq_levels(row, result.scales[o], factors[group]);
    for (size_t k = 0; k < row.size(); ++k) integers[rows.weight_at(o, k)] = levels[k];
  }
  return result;
}

}  // namespace

void Gram::add(std::span<const float> rows) {
  const size_t count = rows.size() / size;
  const auto columns = static_cast<int64_t>(size);
#pragma omp parallel for schedule(dynamic, 16) if (size > kBlock)
  for (int64_t i = 0; i < columns; ++i) {
    double* const target = sums.data() + static_cast<size_t>(i) * size;
    for (size_t r = 0; r < count; ++r) {
      const float* const row = rows.data() + r * size;
      const auto factor = static_cast<double>(row[i]);
      if (factor == 0) continue;
      for (int64_t j = 0; j <= i; ++j) target[j] += factor * static_cast<double>(row[j]);
    }
  }
}

std::vector<double> gram_factor(Gram gram) {
  const size_t size = gram.size;
  double mean = 0;
  for (size_t i = 0; i < size; ++i) mean += gram.sums[i * size + i] / static_cast<double>(size);
  const double damping = mean > 0 ? kDamping * mean : 1;
  for (size_t i = 0; i < size; ++i) gram.sums[i * size + i] += damping;
  // Starts at the last row, because L^T L and not L L^T must equal the matrix.
  for (size_t end = size; end > 0;) {
    const size_t begin = end > kBlock ? end - kBlock : 0;
    for (size_t j = end; j-- > begin;) {
      finish_row(gram.sums, size, j);
      subtract_rows(gram.sums, size, j, j + 1, begin, j);
    }
    subtract_rows(gram.sums, size, begin, end, 0, begin);
    end = begin;
  }
  return std::move(gram.sums);
}

std::vector<int8_t> gptq_levels(std::span<const float> weights, float scale, std::span<const double> factor) {
  const size_t size = weights.size();
  std::vector<int8_t> levels(size);
  std::vector<double> errors(size);
  for (size_t j = 0; j < size; ++j) {
    const double* const row = factor.data() + j * size;
    double carried = 0;
    for (size_t i = 0; i < j; ++i) carried += errors[i] * row[i];
    const double wanted = static_cast<double>(weights[j]) / static_cast<double>(scale);
    const double level = std::clamp(std::nearbyint(wanted + carried / row[j]), -kHighest, kHighest);
    levels[j] = static_cast<int8_t>(level);
    errors[j] = wanted - level;
  }
  return levels;
}

RoundedWeights gptq_weights(const Graph& graph, const Placement& placement,
                            const std::vector<Samples>& samples, const MakeRunner& make_runner,
                            const std::function<void(const base::Progress&)>& progress,
                            const system::StopFlag* stop) {
  const auto begin = base::Clock::now();
  std::set<graph::ValueId> wanted;
  for (const WeightedNode& weighted : placement.weighted)
    wanted.insert(graph.nodes[static_cast<size_t>(weighted.node)].inputs[0]);
  const std::vector<CapturedValues> captured = capture(graph, wanted, samples, make_runner);
  RoundedWeights result;
  double done = 0;
  for (const WeightedNode& weighted : placement.weighted) {
    if (stop != nullptr && stop->load()) throw system::Interrupted{};
    const Node& node = graph.nodes[static_cast<size_t>(weighted.node)];
    const Tensor& weights = *graph.constant(node.inputs[1]);
    const auto rows = LayerRows::of(node, weights, weighted.axis);
    if (rows && rows->length() <= kLongestRow) {
      std::vector<const Tensor*> inputs;
      for (const CapturedValues& values : captured) inputs.push_back(&values.at(node.inputs[0]));
      std::vector<std::vector<double>> factors;
      for (size_t group = 0; group < rows->groups(); ++group) {
        Gram gram(rows->length());
        for (const Tensor* input : inputs) gram.add(rows->read(*input, group, inputs.size()));
        factors.push_back(gram_factor(std::move(gram)));
      }
      result.emplace(node.outputs[0], rounded(weights, weighted, *rows, factors));
    }
    if (!progress) continue;
    ++done;
    const double seconds = base::seconds_since(begin);
    progress({seconds, seconds * (static_cast<double>(placement.weighted.size()) - done) / done,
              "rounding weights"});
  }
  return result;
}

}  // namespace hone::quantize
