// How much of a model's accuracy quantization costs: compared with the original on samples, and with labels
// where there are some.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "quantize/data.hpp"
#include "quantize/runner.hpp"
#include "system/interruption.hpp"

namespace hone::quantize {

/// How close the outputs are to those of the original.
struct Accuracy {
  int64_t samples = 0;
  double relative_error = 0;  ///< root of the mean of |q - f|^2 / |f|^2 over outputs and samples
  double cosine = 1;          ///< the least of all outputs and runs
  /// Share of the rows of the first output whose largest element is the same; absent where it is no matrix of
  /// class scores.
  std::optional<double> top1;
  /// With labels, share of the rows whose largest element is the label's: of the model, and of the original.
  std::optional<double> right;
  std::optional<double> right_before;

  /// The loss that a budget limits: with labels the share of `right_before` that was lost, 0 where none was;
  /// else 1 - top1; relative_error for outputs that are no class scores.
  double loss() const;
  /// Half the width of the 95 % interval of loss(), after Wilson (1927), from the number of rows; 0 for
  /// relative_error.
  double doubt() const;
};

/// The original's outputs are computed once.
class Evaluator {
 public:
  /// `labels`: of each row of the first output, in order, or none. Usage error for labels where the first
  /// output is no matrix of class scores of one row a sample.
  Evaluator(const graph::Graph& original, std::vector<Samples> samples, std::vector<int64_t> labels,
            MakeRunner make_runner, const system::StopFlag* stop = nullptr);

  /// Throws system::Interrupted when the flag is set.
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

/// True if an output is rows of class scores.
bool is_class_scores(const tensor::Tensor& output);
/// The place of the largest element of each row; ties go to the first.
std::vector<int64_t> largest_of_rows(const tensor::Tensor& output);

}  // namespace hone::quantize
