// See selection.hpp.
#include "quantize/selection.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "quantize/captured.hpp"
#include "quantize/suffix.hpp"

namespace hone::quantize {
namespace {

using graph::Graph;
using graph::ValueId;
using tensor::Tensor;

/// Scales that differ by less than this share count as one candidate.
constexpr double kSameScale = 0.005;
constexpr std::string_view kMixed = "mixed";

/// Values that share a range, by index into Placement::values.
using Groups = std::vector<std::vector<size_t>>;

Groups groups_of(const Placement& placement) {
  std::map<int, std::vector<size_t>> by_number;
  for (size_t i = 0; i < placement.values.size(); ++i) by_number[placement.values[i].group].push_back(i);
  Groups groups;
  for (auto& [number, members] : by_number) groups.push_back(std::move(members));
  return groups;
}

IntegerForm form_of(const std::vector<size_t>& group, const Calibration& calibration, Target target) {
  double low = 0;
  for (const size_t i : group) low = std::min(low, calibration.tensors[i].histogram.min());
  return form_for(target, low);
}

Range union_of(const std::vector<size_t>& group, Calibrator calibrator, const Calibration& calibration,
               const RangeOptions& options) {
  const IntegerForm form = form_of(group, calibration, options.target);
  Range range;
  for (const size_t i : group) {
    const Range one = choose_range(calibration.tensors[i].histogram, calibrator, form, options.calibrator);
    range.low = std::min(range.low, one.low);
    range.high = std::max(range.high, one.high);
  }
  return range;
}

Tensor fake_quantized(const Tensor& tensor, const Scale& scale, IntegerForm form) {
  Tensor result(tensor::DType::kFloat32, tensor.shape());
  std::ranges::transform(tensor.values<float>(), result.mutable_values<float>().begin(),
                         [&](float value) { return fake_quantized(value, scale, form); });
  return result;
}

class Selector {
 public:
  Selector(const Graph& graph, const Placement& placement, const Calibration& calibration,
           const std::vector<Samples>& samples, const MakeRunner& make_runner, const SelectOptions& options)
      : graph_(graph),
        placement_(placement),
        calibration_(calibration),
        samples_(samples),
        make_runner_(make_runner),
        options_(options),
        groups_(groups_of(placement)) {}

  Selection run() {
    std::map<Calibrator, std::vector<ChosenRange>> uniform;
    for (const Calibrator calibrator : kCalibrators)
      uniform[calibrator] = ranges_by(calibrator, placement_, calibration_, options_.ranges);
    capture_values();
    std::vector<ChosenRange> mixed = uniform.at(Calibrator::kMse);
    for (const std::vector<size_t>& group : groups_) {
      const Calibrator best = best_of(group, uniform);
      for (const size_t i : group) mixed[i] = uniform.at(best)[i];
      ++done_;
      show("choosing ranges");
    }
    return best_whole(uniform, mixed);
  }

 private:
  void check_stop() const {
    if (options_.stop != nullptr && options_.stop->load()) throw system::Interrupted{};
  }

  void show(const char* doing) const {
    check_stop();
    if (!options_.progress) return;
    base::Progress progress;
    progress.done_seconds = base::seconds_since(begin_);
    const double all = static_cast<double>(groups_.size() + std::size(kCalibrators) + 1);
    progress.left_seconds = progress.done_seconds * (all - done_) / std::max(done_, 1.0);
    progress.doing = doing;
    options_.progress(progress);
  }

  /// The value of a group that contains all others of the group: the last one in the graph, or the first if a
  /// Split divides it.
  ValueId whole_of(const std::vector<size_t>& group) const {
    std::set<ValueId> members;
    for (const size_t i : group) members.insert(placement_.values[i].value);
    std::vector<ValueId> order;
    bool is_shared_out = false;
    const auto add = [&](const std::vector<ValueId>& values) {
      std::ranges::copy_if(values, std::back_inserter(order),
                           [&](ValueId id) { return members.contains(id); });
    };
    add(graph_.inputs);
    for (const graph::Node& node : graph_.nodes) {
      const size_t before = order.size();
      add(node.outputs);
      is_shared_out = is_shared_out || order.size() > before + 1;
    }
    return is_shared_out ? order.front() : order.back();
  }

  /// Runs the model once and keeps all values that the suffixes read.
  void capture_values() {
    std::set<ValueId> wanted;
    for (const std::vector<size_t>& group : groups_) {
      const Suffix suffix = suffix_of(graph_, whole_of(group));
      wanted.insert(suffix.inputs.begin(), suffix.inputs.end());
    }
    captured_ = capture(graph_, wanted, samples_, make_runner_);
  }

  std::vector<const Tensor*> expected(size_t sample, const std::vector<size_t>& outputs) const {
    std::vector<const Tensor*> result;
    for (const size_t i : outputs) result.push_back(&captured_[sample].at(graph_.outputs[i]));
    return result;
  }

  Calibrator best_of(const std::vector<size_t>& group,
                     const std::map<Calibrator, std::vector<ChosenRange>>& uniform) const {
    const IntegerForm form = form_of(group, calibration_, options_.ranges.target);
    std::vector<std::pair<Calibrator, Scale>> candidates;
    for (const auto& [calibrator, ranges] : uniform) {
      const Scale scale = scale_of(ranges[group.front()].range, form);
      const bool known = std::ranges::any_of(candidates, [&](const auto& other) {
        return std::fabs(other.second.scale - scale.scale) <= kSameScale * static_cast<double>(scale.scale) &&
               other.second.zero_point == scale.zero_point;
      });
      if (!known) candidates.emplace_back(calibrator, scale);
    }
    if (candidates.size() == 1) return candidates.front().first;
    return least_error(whole_of(group), form, candidates);
  }

  Calibrator least_error(ValueId value, IntegerForm form,
                         const std::vector<std::pair<Calibrator, Scale>>& candidates) const {
    const Suffix suffix = suffix_of(graph_, value);
    if (suffix.outputs.empty()) return Calibrator::kMse;
    std::unique_ptr<Runner> runner;
    std::vector<double> errors(candidates.size());
    for (size_t s = 0; s < samples_.size(); ++s) {
      std::vector<Tensor> inputs;
      for (const ValueId id : suffix.inputs) inputs.push_back(captured_[s].at(id));
      if (runner == nullptr) runner = make_runner_(suffix.graph, inputs);
      const Tensor exact = inputs[0];
      for (size_t c = 0; c < candidates.size(); ++c) {
        inputs[0] = fake_quantized(exact, candidates[c].second, form);
        errors[c] += mean_square(runner->run(inputs), expected(s, suffix.outputs));
        check_stop();
      }
    }
    const auto best = std::ranges::min_element(errors) - errors.begin();
    return candidates[static_cast<size_t>(best)].first;
  }

  double whole_error(const std::vector<ChosenRange>& ranges) {
    const auto scales = scales_of(ranges, placement_, calibration_, options_.ranges.target);
    const auto runner =
        make_runner_(with_qdq(graph_, placement_, scales, options_.qdq), samples_.front().inputs);
    std::vector<size_t> outputs(graph_.outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) outputs[i] = i;
    double error = 0;
    for (size_t s = 0; s < samples_.size(); ++s) {
      error += mean_square(runner->run(samples_[s].inputs), expected(s, outputs));
      check_stop();
    }
    ++done_;
    show("comparing calibrators");
    return std::sqrt(error / static_cast<double>(std::max<size_t>(samples_.size(), 1)));
  }

  Selection best_whole(const std::map<Calibrator, std::vector<ChosenRange>>& uniform,
                       const std::vector<ChosenRange>& mixed) {
    Selection selection{mixed, {{std::string(kMixed), whole_error(mixed)}}};
    double least = selection.errors.front().error;
    for (const auto& [calibrator, ranges] : uniform) {
      const double error = whole_error(ranges);
      selection.errors.push_back({std::string(calibrator_name(calibrator)), error});
      if (error >= least) continue;
      least = error;
      selection.ranges = ranges;
    }
    std::ranges::stable_sort(selection.errors, {}, &WholeError::error);
    return selection;
  }

  const Graph& graph_;
  const Placement& placement_;
  const Calibration& calibration_;
  const std::vector<Samples>& samples_;
  const MakeRunner& make_runner_;
  const SelectOptions& options_;
  Groups groups_;
  /// For each sample, the values at which the model is cut, and its outputs.
  std::vector<CapturedValues> captured_;
  base::Clock::time_point begin_ = base::Clock::now();
  double done_ = 0;
};

}  // namespace

std::vector<ChosenRange> ranges_by(Calibrator calibrator, const Placement& placement,
                                   const Calibration& calibration, const RangeOptions& options) {
  const Groups groups = groups_of(placement);
  std::vector<ChosenRange> ranges(placement.values.size());
  const auto count = static_cast<int64_t>(groups.size());
#pragma omp parallel for schedule(dynamic)
  for (int64_t g = 0; g < count; ++g) {
    const std::vector<size_t>& group = groups[static_cast<size_t>(g)];
    const Range range = union_of(group, calibrator, calibration, options);
    for (const size_t i : group) ranges[i] = {calibrator, range};
  }
  return ranges;
}

std::vector<ActivationScale> scales_of(const std::vector<ChosenRange>& ranges, const Placement& placement,
                                       const Calibration& calibration, Target target) {
  std::vector<ActivationScale> scales(ranges.size());
  for (const std::vector<size_t>& group : groups_of(placement)) {
    const IntegerForm form = form_of(group, calibration, target);
    for (const size_t i : group) scales[i] = {scale_of(ranges[i].range, form), form};
  }
  return scales;
}

Selection select_ranges(const Graph& graph, const Placement& placement, const Calibration& calibration,
                        const std::vector<Samples>& samples, const MakeRunner& make_runner,
                        const SelectOptions& options) {
  return Selector(graph, placement, calibration, samples, make_runner, options).run();
}

}  // namespace hone::quantize
