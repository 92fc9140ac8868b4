// See sensitivity.hpp.
#include "quantize/sensitivity.hpp"

#include <algorithm>
#include <cmath>

#include "base/clock.hpp"
#include "quantize/captured.hpp"
#include "quantize/evaluation.hpp"
#include "quantize/suffix.hpp"

namespace hone::quantize {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;
using tensor::Tensor;

/// Logarithms of the softmax of one row.
std::vector<double> log_softmax(std::span<const float> row) {
  const double largest = static_cast<double>(*std::ranges::max_element(row));
  double sum = 0;
  for (const float value : row) sum += std::exp(static_cast<double>(value) - largest);
  std::vector<double> result;
  for (const float value : row) result.push_back(static_cast<double>(value) - largest - std::log(sum));
  return result;
}

template <class F>
void for_each_row(const Tensor& a, const Tensor& b, F&& f) {
  const auto width = static_cast<size_t>(a.shape()[1]);
  const auto rows = static_cast<size_t>(a.shape()[0]);
  for (size_t row = 0; row < rows; ++row) {
    f(log_softmax(a.values<float>().subspan(row * width, width)),
      log_softmax(b.values<float>().subspan(row * width, width)));
  }
}

/// Returns a graph of one node with the Q/DQ nodes before it; its only input is the value that the node
/// reads.
Graph alone(const Graph& graph, const Placement& placement, const std::vector<ActivationScale>& scales,
            const QdqOptions& options, const WeightedNode& weighted) {
  const Node& node = graph.nodes[static_cast<size_t>(weighted.node)];
  Graph single = graph;
  single.nodes = {node};
  single.inputs = {node.inputs[0]};
  single.outputs = {node.outputs[0]};
  Placement only;
  std::vector<ActivationScale> one;
  for (size_t i = 0; i < placement.values.size(); ++i) {
    if (placement.values[i].value != node.inputs[0]) continue;
    only.values = {placement.values[i]};
    one = {scales[i]};
  }
  only.reads = {{0, 0}};
  only.weighted = {{0, weighted.axis}};
  return with_qdq(single, only, one, options);
}

class Meter {
 public:
  Meter(const Graph& graph, const Placement& placement, const std::vector<ActivationScale>& scales,
        const std::vector<Samples>& samples, const MakeRunner& make_runner, const SensitivityOptions& options)
      : graph_(graph),
        placement_(placement),
        scales_(scales),
        samples_(samples),
        make_runner_(make_runner),
        options_(options) {}

  std::vector<Sensitivity> run() {
    std::vector<Suffix> suffixes;
    std::set<ValueId> wanted;
    for (const WeightedNode& weighted : placement_.weighted) {
      const Node& node = graph_.nodes[static_cast<size_t>(weighted.node)];
      suffixes.push_back(suffix_of(graph_, node.outputs[0]));
      wanted.insert(node.inputs[0]);
      wanted.insert(suffixes.back().inputs.begin(), suffixes.back().inputs.end());
    }
    captured_ = capture(graph_, wanted, samples_, make_runner_);
    std::vector<Sensitivity> result;
    for (size_t i = 0; i < suffixes.size(); ++i) {
      result.push_back(measured(placement_.weighted[i], suffixes[i]));
      show(static_cast<double>(i + 1), static_cast<double>(suffixes.size()));
    }
    return result;
  }

 private:
  Sensitivity measured(const WeightedNode& weighted, const Suffix& suffix) const {
    const Node& node = graph_.nodes[static_cast<size_t>(weighted.node)];
    std::unique_ptr<Runner> first;
    std::unique_ptr<Runner> rest;
    Sensitivity sum;
    size_t row = 0;
    for (const CapturedValues& values : captured_) {
      if (options_.stop != nullptr && options_.stop->load()) throw system::Interrupted{};
      const std::vector<Tensor> input = {values.at(node.inputs[0])};
      if (first == nullptr)
        first = make_runner_(alone(graph_, placement_, scales_, options_.qdq, weighted), input);
      const std::vector<Tensor> own = first->run(input);
      sum.own_error += mean_square(own, {&values.at(node.outputs[0])});
      const std::vector<Tensor> outputs = outputs_with(own[0], values, suffix, rest);
      add_effect(outputs, values, row, sum);
    }
    const auto count = static_cast<double>(captured_.size());
    return {std::sqrt(sum.own_error / count), std::sqrt(sum.output_error / count), sum.effect / count,
            sum.changed / count};
  }

  /// Returns all outputs of the model in which this node's result is `result`.
  std::vector<Tensor> outputs_with(const Tensor& result, const CapturedValues& values, const Suffix& suffix,
                                   std::unique_ptr<Runner>& rest) const {
    std::vector<Tensor> outputs;
    for (const ValueId id : graph_.outputs)
      outputs.push_back(id == suffix.inputs[0] ? result : values.at(id));
    if (suffix.outputs.empty()) return outputs;
    std::vector<Tensor> inputs = {result};
    for (size_t i = 1; i < suffix.inputs.size(); ++i) inputs.push_back(values.at(suffix.inputs[i]));
    if (rest == nullptr) rest = make_runner_(suffix.graph, inputs);
    std::vector<Tensor> changed = rest->run(inputs);
    for (size_t i = 0; i < changed.size(); ++i) outputs[suffix.outputs[i]] = std::move(changed[i]);
    return outputs;
  }

  void add_effect(const std::vector<Tensor>& outputs, const CapturedValues& values, size_t& row,
                  Sensitivity& sum) const {
    std::vector<const Tensor*> expected;
    for (const ValueId id : graph_.outputs) expected.push_back(&values.at(id));
    const double squares = mean_square(outputs, expected);
    sum.output_error += squares;
    const bool has_shape = !outputs.empty() && outputs[0].shape() == expected[0]->shape();
    const Tensor before = has_shape ? comparable(*expected[0]) : Tensor();
    if (!has_shape || !is_class_scores(before)) {
      sum.effect += squares;
      return;
    }
    const Tensor after = comparable(outputs[0]);
    const auto rows = static_cast<double>(std::max<int64_t>(after.shape()[0], 1));
    const auto a = largest_of_rows(before);
    const auto b = largest_of_rows(after);
    for (size_t i = 0; i < a.size(); ++i) sum.changed += a[i] == b[i] ? 0 : 1 / rows;
    if (options_.labels.empty()) {
      sum.effect += mean_divergence(before, after);
      return;
    }
    for_each_row(before, after, [&](const auto& exact, const auto& moved) {
      const auto label = static_cast<size_t>(options_.labels.at(row++));
      sum.effect += std::fabs(moved[label] - exact[label]) / rows;
    });
  }

  void show(double done, double all) const {
    if (!options_.progress) return;
    base::Progress progress;
    progress.done_seconds = base::seconds_since(begin_);
    progress.left_seconds = progress.done_seconds * (all - done) / done;
    progress.doing = "measuring what each layer costs";
    options_.progress(progress);
  }

  const Graph& graph_;
  const Placement& placement_;
  const std::vector<ActivationScale>& scales_;
  const std::vector<Samples>& samples_;
  const MakeRunner& make_runner_;
  const SensitivityOptions& options_;
  std::vector<CapturedValues> captured_;
  base::Clock::time_point begin_ = base::Clock::now();
};

}  // namespace

double mean_divergence(const Tensor& expected, const Tensor& actual) {
  double sum = 0;
  double rows = 0;
  for_each_row(expected, actual, [&](const auto& before, const auto& after) {
    for (size_t i = 0; i < before.size(); ++i) {
      const double p = std::exp(before[i]);
      if (p > 0) sum += p * (before[i] - after[i]);
    }
    ++rows;
  });
  return rows > 0 ? std::max(0.0, sum / rows) : 0;
}

std::vector<Sensitivity> measure_sensitivity(const Graph& graph, const Placement& placement,
                                             const std::vector<ActivationScale>& scales,
                                             const std::vector<Samples>& samples,
                                             const MakeRunner& make_runner,
                                             const SensitivityOptions& options) {
  return Meter(graph, placement, scales, samples, make_runner, options).run();
}

}  // namespace hone::quantize
