// Rounds weights to minimise the error of a layer's results instead of the error of the weights.
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

/// For the numbers x by which a row of weights is multiplied, the sums of their products: entry [i, j] is the
/// sum of x[i]*x[j].
struct Gram {
  explicit Gram(size_t row_length) : size(row_length), sums(row_length * row_length) {}
  size_t size;
  std::vector<double> sums;

  /// `rows` holds consecutive rows of `size` numbers.
  void add(std::span<const float> rows);
};

/// Returns a lower triangular L with L^T L = the Gram matrix + damping * I. As in GPTQ, the damping is 1 % of
/// the mean of the diagonal (1 if the diagonal is zero). The upper triangle of the result is undefined.
std::vector<double> gram_factor(Gram gram);

/// Returns the levels for one row of weights, -127 to 127, by GPTQ (Frantar et al. 2022, arXiv 2210.17323) in
/// the order of the columns. Column j becomes round(w[j] / scale + sum over i < j of e[i] * L[j, i] / L[j,
/// j]), where e are the errors of the previous columns. This is Babai's nearest plane algorithm, which is
/// equivalent to GPTQ (Chen et al. 2025, arXiv 2507.18553) and needs no inverse. `factor` is gram_factor() of
/// the numbers that the row is multiplied with.
std::vector<int8_t> gptq_levels(std::span<const float> weights, float scale, std::span<const double> factor);

/// The key is the result of the node to which the weights belong.
using RoundedWeights = std::map<graph::ValueId, QuantizedWeights>;

/// Returns the weights of convolutions, Gemm and MatMul, rounded for the inputs of these nodes in the
/// samples. Transposed convolutions and rows of more than 8,192 numbers are left out. Throws
/// system::Interrupted if the flag is set.
RoundedWeights gptq_weights(const graph::Graph& graph, const Placement& placement,
                            const std::vector<Samples>& samples, const MakeRunner& make_runner,
                            const std::function<void(const base::Progress&)>& progress,
                            const system::StopFlag* stop);

}  // namespace hone::quantize
