// Measures the loss of accuracy by quantization: compares with the original model on samples, and with labels
// if there are any.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "quantize/data.hpp"
#include "quantize/runner.hpp"
#include "system/interruption.hpp"

namespace hone::quantize {

/// Distance of the outputs from those of the original model.
struct Accuracy {
  int64_t samples = 0;
  double relative_error = 0;  ///< root of the mean of |q - f|^2 / |f|^2 over outputs and samples
  double cosine = 1;          ///< the least over all outputs and runs
  /// Share of the rows of the first output whose largest element has the same index; absent if the output is
  /// not a matrix of class scores.
  std::optional<double> top1;
  /// With labels: the share of rows whose largest element is at the label, for the quantized model and for
  /// the original.
  std::optional<double> right;
  std::optional<double> right_before;

  /// The loss that a budget limits. With labels, it is the lost share of `right_before`, at least 0. Without
  /// labels it is 1 - top1, or relative_error if the outputs are not class scores.
  double loss() const;
  /// Half the width of the 95 % interval of loss() for this number of rows, by Wilson (1927); 0 for
  /// relative_error.
  double doubt() const;
};

/// Computes the outputs of the original model once.
class Evaluator {
 public:
  /// `labels` holds the label of each row of the first output in order, or is empty. Usage error for labels
  /// if the first output is not a matrix of class scores with one row for each sample.
  Evaluator(const graph::Graph& original, std::vector<Samples> samples, std::vector<int64_t> labels,
            MakeRunner make_runner, const system::StopFlag* stop = nullptr);

  /// Throws system::Interrupted if the flag is set.
  Accuracy accuracy_of(const graph::Graph& quantized) const;

 private:
  struct Scores {
    double right = 0;
    double same = 0;
    double rows = 0;
  };
  void count_rows(const tensor::Tensor& actual, const tensor::Tensor& expected, Scores& scores) const;

  std::vector<Samples> samples_;
  std::vector<int64_t> labels_;
  MakeRunner make_runner_;
  const system::StopFlag* stop_;
  std::vector<std::vector<tensor::Tensor>> expected_;
  bool has_rows_ = false;
  double right_before_ = 0;
};

/// True if an output consists of rows of class scores.
bool is_class_scores(const tensor::Tensor& output);
/// Index of the largest element of each row; of equal elements, the first.
std::vector<int64_t> largest_of_rows(const tensor::Tensor& output);

}  // namespace hone::quantize
