// Rounding of weights by its effect on a layer's results, and not by that on the weights.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "base/progress.hpp"
#include "quantize/data.hpp"
#include "quantize/placement.hpp"
#include "quantize/runner.hpp"
#include "quantize/weights.hpp"
#include "system/interruption.hpp"

namespace hone::quantize {

/// Sums of products of the numbers with which a row of weights is multiplied: entry [i, j] is the sum of
/// x[i]*x[j].
struct Gram {
  explicit Gram(size_t row_length) : size(row_length), sums(row_length * row_length) {}
  size_t size;
  std::vector<double> sums;

  /// `rows` follow each other, each of `size` numbers.
  void add(std::span<const float> rows);
};

/// A lower triangle L with L^T L = the Gram matrix + damping * I, where damping is 1 % of the mean of its
/// diagonal, as GPTQ has it (1 where all of that is 0). The upper triangle of the result is not used.
std::vector<double> gram_factor(Gram gram);

/// Levels for one row of weights, -127 to 127: those of GPTQ (Frantar and others 2022, arXiv 2210.17323) in
/// the order of the columns. Column j becomes round(w[j] / scale + sum over i < j of e[i] * L[j, i] / L[j,
/// j]), where e is the error of the columns before it: Babai's nearest plane, of which GPTQ is another form
/// (Chen and others 2025, arXiv 2507.18553) and which needs no inverse. `factor` is gram_factor() of the
/// numbers with which the row is multiplied.
std::vector<int8_t> gptq_levels(std::span<const float> weights, float scale, std::span<const double> factor);

/// Keyed by the result of the node that they belong to.
using RoundedWeights = std::map<graph::ValueId, QuantizedWeights>;

/// The weights of convolutions, Gemm and MatMul, rounded for their inputs in these samples. Transposed
/// convolutions and rows of more than 8,192 numbers are left out. Throws system::Interrupted when the flag is
/// set.
RoundedWeights gptq_weights(const graph::Graph& graph, const Placement& placement,
                            const std::vector<Samples>& samples, const MakeRunner& make_runner,
                            const std::function<void(const base::Progress&)>& progress,
                            const system::StopFlag* stop);

}  // namespace hone::quantize
