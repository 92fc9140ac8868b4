// Measures how quantizing a single convolution or product changes a model's outputs.
#pragma once

#include <functional>
#include <vector>

#include "base/progress.hpp"
#include "quantize/data.hpp"
#include "quantize/placement.hpp"
#include "quantize/qdq.hpp"
#include "quantize/runner.hpp"
#include "system/interruption.hpp"

namespace hone::quantize {

/// The sensitivity of one node with weights, in the order of Placement::weighted. All are means over samples.
struct Sensitivity {
  /// Relative error of the node's own result: |q - f| / |f|.
  double own_error = 0;
  /// Relative error of the model's outputs.
  double output_error = 0;
  /// The figure by which a precision is chosen. With labels |L(q) - L(f)|, L the cross entropy at the label;
  /// of class scores without labels KL(softmax(f) || softmax(q)); else output_error squared.
  double effect = 0;
  /// Share of the rows of class scores whose largest element moves; 0 without such rows.
  double changed = 0;
};

struct SensitivityOptions {
  QdqOptions qdq;
  /// The label of each row of the first output, in order, or none.
  std::vector<int64_t> labels;
  std::function<void(const base::Progress&)> progress;
  const system::StopFlag* stop = nullptr;
};

/// Each node runs with its inputs, weights and bias quantized as with_qdq() writes them, and all later nodes
/// in floating point; the nodes before it are computed once. Throws system::Interrupted when the flag is set.
std::vector<Sensitivity> measure_sensitivity(const graph::Graph& graph, const Placement& placement,
                                             const std::vector<ActivationScale>& scales,
                                             const std::vector<Samples>& samples,
                                             const MakeRunner& make_runner,
                                             const SensitivityOptions& options);

/// The mean over rows of KL(softmax(expected) || softmax(actual)), natural logarithm. Both are matrices of
/// one shape.
double mean_divergence(const tensor::Tensor& expected, const tensor::Tensor& actual);

}  // namespace hone::quantize
