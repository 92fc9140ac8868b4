// Measures whether equalization helps a model. See equalization.hpp.
#include <algorithm>
#include <cmath>
#include <limits>

#include "quantize/calibration.hpp"
#include "quantize/captured.hpp"
#include "quantize/equalization.hpp"
#include "quantize/evaluation.hpp"
#include "quantize/selection.hpp"

namespace hone::quantize {
namespace {

using graph::Graph;
using tensor::Tensor;

/// After a change, at most this share of the error may remain; a smaller gain may be chance on a few samples.
constexpr double kHelps = 0.95;
constexpr double kAlphas[] = {0.5, 0.75};

class Trial {
 public:
  Trial(const Graph& graph, const Placement& placement, const std::vector<Samples>& samples,
        const MakeRunner& make_runner, const EqualizeOptions& options)
      : graph_(graph),
        placement_(placement),
        samples_(samples),
        make_runner_(make_runner),
        options_(options),
        evaluator_(graph, samples, {}, make_runner, options.stop) {}

  /// The error at the outputs with the ranges from the same samples.
  double error_with(const Equalization& equalization) const {
    const Graph graph = with_equalization(graph_, placement_, equalization);
    DataOptions given;
    for (const Samples& sample : samples_) given.given.push_back(sample.inputs);
    CalibrationData data(graph, given);
    Calibration calibration = begin_calibration(graph, placement_, given);
    calibrate(graph, data, make_runner_, {{}, options_.stop, 1}, calibration);
    if (options_.stop != nullptr && options_.stop->load()) throw system::Interrupted{};
    const auto ranges = ranges_by(Calibrator::kMse, placement_, calibration, {options_.target, {}});
    const auto scales = scales_of(ranges, placement_, calibration, options_.target);
    const QdqOptions qdq{has_integer_bias(options_.target), nullptr};
    return evaluator_.accuracy_of(with_qdq(graph, placement_, scales, qdq)).relative_error;
  }

  std::vector<std::vector<double>> largest(const std::vector<EqualizationSite>& sites) const {
    std::set<graph::ValueId> wanted;
    for (const EqualizationSite& site : sites) {
      if (site.kind == EqualizationSite::Kind::kSmooth) wanted.insert(site.value);
    }
    const auto captured = capture(graph_, wanted, samples_, make_runner_);
    std::vector<std::vector<double>> result(sites.size());
    for (size_t i = 0; i < sites.size(); ++i) {
      if (sites[i].kind != EqualizationSite::Kind::kSmooth) continue;
      const auto channels = static_cast<size_t>(sites[i].channels);
      result[i].resize(channels);
      for (const CapturedValues& values : captured) {
        const auto numbers = values.at(sites[i].value).values<float>();
        for (size_t k = 0; k < numbers.size(); ++k) {
          double& most = result[i][k % channels];
          most = std::max(most, std::fabs(static_cast<double>(numbers[k])));
        }
      }
    }
    return result;
  }

 private:
  const Graph& graph_;
  const Placement& placement_;
  const std::vector<Samples>& samples_;
  const MakeRunner& make_runner_;
  const EqualizeOptions& options_;
  Evaluator evaluator_;
};

bool has(const std::vector<EqualizationSite>& sites, EqualizationSite::Kind kind) {
  return std::ranges::any_of(sites, [&](const auto& site) { return site.kind == kind; });
}

}  // namespace

Equalization choose_equalization(const Graph& graph, const Placement& placement,
                                 const std::vector<Samples>& samples, const MakeRunner& make_runner,
                                 const EqualizeOptions& options) {
  const std::vector<EqualizationSite> sites = equalization_sites(graph, placement);
  if (sites.empty() || samples.empty()) return {};
  std::vector<Equalization> candidates;
  const Trial trial(graph, placement, samples, make_runner, options);
  if (has(sites, EqualizationSite::Kind::kCrossLayer))
    candidates.push_back(cross_layer_factors(graph, sites));
  if (has(sites, EqualizationSite::Kind::kSmooth)) {
    const auto largest = trial.largest(sites);
    for (const double alpha : kAlphas) candidates.push_back(smooth_factors(graph, sites, largest, alpha));
  }
  const double before = trial.error_with({});
  double least = kHelps * before;
  Equalization best;
  for (const Equalization& candidate : candidates) {
    // Earlier successful changes are kept, but a site replaces an earlier one for the same value.
    Equalization both = best;
    for (const EqualizedValue& value : candidate) {
      const auto known =
          std::ranges::find_if(both, [&](const auto& other) { return other.name == value.name; });
      if (known != both.end()) {
        *known = value;
      } else {
        both.push_back(value);
      }
    }
    if (options.progress)
      options.progress({0, std::numeric_limits<double>::infinity(), "trying equalization"});
    const double error = trial.error_with(both);
    if (error >= least) continue;
    least = kHelps * error;
    best = std::move(both);
  }
  return best;
}

}  // namespace hone::quantize
