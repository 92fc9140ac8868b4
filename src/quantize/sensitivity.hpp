// Measures the effect of quantizing a single convolution or product on a model's outputs.
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

/// The sensitivity of one node with weights, in the order of Placement::weighted. All numbers are means over
/// samples.
struct Sensitivity {
  /// Relative error of the node's own result: |q - f| / |f|.
  double own_error = 0;
  /// Relative error of the model's outputs.
  double output_error = 0;
  /// The measure by which precisions are chosen. With labels, it is |L(q) - L(f)|, where L is the cross
  /// entropy at the label. For class scores without labels, it is KL(softmax(f) || softmax(q)). Else it is
  /// output_error squared.
  double effect = 0;
  /// Share of the rows of class scores whose largest element changes; 0 if there are no such rows.
  double changed = 0;
};

struct SensitivityOptions {
  QdqOptions qdq;
  /// The label of each row of the first output in order, or empty.
  std::vector<int64_t> labels;
  std::function<void(const base::Progress&)> progress;
  const system::StopFlag* stop = nullptr;
};

/// Runs each node with inputs, weights and bias quantized as by with_qdq(), and all later nodes in floating
/// point; the nodes before it are computed once. Throws system::Interrupted if the flag is set.
std::vector<Sensitivity> measure_sensitivity(const graph::Graph& graph, const Placement& placement,
                                             const std::vector<ActivationScale>& scales,
                                             const std::vector<Samples>& samples,
                                             const MakeRunner& make_runner,
                                             const SensitivityOptions& options);

/// The mean over rows of KL(softmax(expected) || softmax(actual)), with the natural logarithm. Both must be
/// matrices of the same shape.
double mean_divergence(const tensor::Tensor& expected, const tensor::Tensor& actual);

}  // namespace hone::quantize
