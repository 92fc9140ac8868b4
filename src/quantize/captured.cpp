// See captured.hpp.
#include "quantize/captured.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace hone::quantize {
namespace {

using graph::Graph;
using graph::ValueId;
using tensor::Tensor;

/// Sums of squares for one output.
struct Deviation {
  double difference = 0;
  double reference = 0;

  double relative() const {
    if (difference == 0) return 0;
    return reference > 0 ? difference / reference : std::numeric_limits<double>::infinity();
  }
};

Deviation deviation_of(const Tensor& actual, const Tensor& expected) {
  Deviation result;
  const Tensor wide_actual = comparable(actual);
  const Tensor wide = comparable(expected);
  if (wide.dtype() != tensor::DType::kFloat32 || actual.shape() != expected.shape()) return result;
  const auto a = wide_actual.values<float>();
  const auto b = wide.values<float>();
  for (size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) continue;
    const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    result.difference += d * d;
    result.reference += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return result;
}

}  // namespace

std::vector<CapturedValues> capture(const Graph& graph, const std::set<ValueId>& wanted,
                                    const std::vector<Samples>& samples, const MakeRunner& make_runner) {
  std::set<ValueId> every = wanted;
  every.insert(graph.outputs.begin(), graph.outputs.end());
  Graph all = graph;
  all.outputs.clear();
  for (const ValueId id : every) {
    const bool is_input = std::ranges::find(graph.inputs, id) != graph.inputs.end();
    if (!is_input && !graph.value(id).constant) all.outputs.push_back(id);
  }
  const auto runner = make_runner(all, samples.front().inputs);
  std::vector<CapturedValues> captured;
  for (const Samples& sample : samples) {
    std::vector<Tensor> results = runner->run(sample.inputs);
    CapturedValues& found = captured.emplace_back();
    for (size_t i = 0; i < results.size(); ++i) found[all.outputs[i]] = std::move(results[i]);
    for (size_t i = 0; i < graph.inputs.size(); ++i) found[graph.inputs[i]] = sample.inputs[i];
    for (const ValueId id : graph.outputs) {
      if (graph.value(id).constant) found[id] = *graph.value(id).constant;
    }
  }
  return captured;
}

Tensor comparable(Tensor output) {
  const bool is_other_float =
      tensor::is_floating(output.dtype()) && output.dtype() != tensor::DType::kFloat32;
  return is_other_float ? output.cast(tensor::DType::kFloat32) : std::move(output);
}

double mean_square(const std::vector<Tensor>& actual, const std::vector<const Tensor*>& expected) {
  double sum = 0;
  for (size_t i = 0; i < actual.size(); ++i) sum += deviation_of(actual[i], *expected[i]).relative();
  return actual.empty() ? 0 : sum / static_cast<double>(actual.size());
}

}  // namespace hone::quantize
