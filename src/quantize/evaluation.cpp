// See evaluation.hpp.
#include "quantize/evaluation.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "quantize/captured.hpp"
#include "tensor/metrics.hpp"

namespace hone::quantize {

using graph::Graph;
using tensor::Tensor;

namespace {

std::vector<Tensor> all_comparable(std::vector<Tensor> outputs) {
  for (Tensor& output : outputs) output = comparable(std::move(output));
  return outputs;
}

/// Returns the part of an output that belongs to one of `count` samples; the whole output if it has no axis
/// of samples.
Tensor part_of(const Tensor& output, int64_t count, int64_t index) {
  if (count == 1 || output.rank() == 0 || output.shape()[0] != count) return output;
  tensor::Shape shape = output.shape();
  shape[0] = 1;
  const size_t bytes = output.byte_size() / static_cast<size_t>(count);
  return {output.dtype(), shape, output.bytes() + static_cast<size_t>(index) * bytes, nullptr};
}

}  // namespace

bool is_class_scores(const Tensor& output) {
  return output.dtype() == tensor::DType::kFloat32 && output.rank() == 2 && output.shape()[1] > 1;
}

std::vector<int64_t> largest_of_rows(const Tensor& output) {
  const auto width = static_cast<size_t>(output.shape()[1]);
  const auto values = output.values<float>();
  std::vector<int64_t> result;
  for (size_t begin = 0; begin + width <= values.size(); begin += width) {
    const auto row = values.subspan(begin, width);
    result.push_back(std::ranges::max_element(row) - row.begin());
  }
  return result;
}

double Accuracy::loss() const {
  if (right && right_before) {
    const double before = *right_before;
    return before > 0 ? std::max(0.0, (before - *right) / before) : 0;
  }
  return top1 ? 1 - *top1 : relative_error;
}

double Accuracy::doubt() const {
  if (!top1 || samples == 0) return 0;
  constexpr double kZ = 1.96;
  const double p = std::min(loss(), 1.0);
  const auto n = static_cast<double>(samples);
  return kZ / (1 + kZ * kZ / n) * std::sqrt(p * (1 - p) / n + kZ * kZ / (4 * n * n));
}

Evaluator::Evaluator(const Graph& original, std::vector<Samples> samples, std::vector<int64_t> labels,
                     MakeRunner make_runner, const system::StopFlag* stop)
    : samples_(std::move(samples)),
      labels_(std::move(labels)),
      make_runner_(std::move(make_runner)),
      stop_(stop) {
  if (samples_.empty()) return;
  const auto runner = make_runner_(original, samples_.front().inputs);
  has_rows_ = true;
  Scores scores;
  for (const Samples& sample : samples_) {
    if (stop_ != nullptr && stop_->load()) throw system::Interrupted{};
    std::vector<Tensor>& outputs = expected_.emplace_back(all_comparable(runner->run(sample.inputs)));
    has_rows_ = has_rows_ && !outputs.empty() && is_class_scores(outputs[0]);
    const bool fits = has_rows_ && outputs[0].shape()[0] == sample.count;
    if (!labels_.empty() && !fits)
      fail_usage("labels are for models whose first output is a row of class scores for each sample");
    if (has_rows_) count_rows(outputs[0], outputs[0], scores);
  }
  right_before_ = scores.rows > 0 ? scores.right / scores.rows : 0;
}

void Evaluator::count_rows(const Tensor& actual, const Tensor& expected, Scores& scores) const {
  const std::vector<int64_t> a = largest_of_rows(actual);
  const std::vector<int64_t> b = largest_of_rows(expected);
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    const auto row = static_cast<size_t>(scores.rows);
    if (a[i] == b[i]) ++scores.same;
    if (row < labels_.size() && a[i] == labels_[row]) ++scores.right;
    ++scores.rows;
  }
}

Accuracy Evaluator::accuracy_of(const Graph& quantized) const {
  Accuracy result;
  if (samples_.empty()) return result;
  const auto runner = make_runner_(quantized, samples_.front().inputs);
  double squares = 0;
  Scores scores;
  for (size_t s = 0; s < samples_.size(); ++s) {
    if (stop_ != nullptr && stop_->load()) throw system::Interrupted{};
    const std::vector<Tensor> actual = all_comparable(runner->run(samples_[s].inputs));
    const std::vector<Tensor>& expected = expected_[s];
    result.samples += samples_[s].count;
    for (size_t i = 0; i < actual.size(); ++i) {
      if (actual[i].dtype() != tensor::DType::kFloat32 || actual[i].shape() != expected[i].shape()) continue;
      for (int64_t k = 0; k < samples_[s].count; ++k) {
        const Tensor a = part_of(actual[i], samples_[s].count, k);
        const Tensor b = part_of(expected[i], samples_[s].count, k);
        const double error = tensor::relative_l2(a, b);
        squares += error * error / static_cast<double>(actual.size());
        result.cosine = std::min(result.cosine, tensor::cosine(a, b));
      }
    }
    if (has_rows_) count_rows(actual[0], expected[0], scores);
  }
  result.relative_error = std::sqrt(squares / static_cast<double>(std::max<int64_t>(result.samples, 1)));
  if (!has_rows_ || scores.rows <= 0) return result;
  result.top1 = scores.same / scores.rows;
  if (labels_.empty()) return result;
  result.right = scores.right / scores.rows;
  result.right_before = right_before_;
  return result;
}

}  // namespace hone::quantize
