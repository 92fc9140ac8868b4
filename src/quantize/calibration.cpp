// See calibration.hpp.
#include "quantize/calibration.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "quantize/float_graph.hpp"

namespace hone::quantize {
namespace {

using graph::Graph;
using graph::ValueId;
using tensor::Tensor;

/// Separate lanes let the compiler use vector instructions.
double sum_of(std::span<const float> values) {
  constexpr size_t kLanes = 8;
  double sums[kLanes] = {};
  const size_t whole = values.size() / kLanes * kLanes;
  for (size_t i = 0; i < whole; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) sums[lane] += static_cast<double>(values[i + lane]);
  }
  for (size_t i = whole; i < values.size(); ++i) sums[0] += static_cast<double>(values[i]);
  return (sums[0] + sums[4]) + (sums[1] + sums[5]) + (sums[2] + sums[6]) + (sums[3] + sums[7]);
}

void add_channel_sums(const Tensor& value, size_t axis, std::vector<double>& sums) {
  const auto values = value.values<float>();
  const auto channels = static_cast<size_t>(value.shape()[axis]);
  size_t inner = 1;
  for (size_t i = axis + 1; i < value.shape().size(); ++i) inner *= static_cast<size_t>(value.shape()[i]);
  const size_t rows = values.size() / std::max<size_t>(inner, 1);
  if (inner == 1) {
    for (size_t i = 0; i < values.size(); ++i) sums[i % channels] += static_cast<double>(values[i]);
    return;
  }
  for (size_t row = 0; row < rows; ++row) sums[row % channels] += sum_of(values.subspan(row * inner, inner));
}

/// Returns the graph with these values as its outputs, except those that are inputs of the graph.
Graph observing(const Graph& graph, const std::vector<ValueId>& values) {
  Graph result = graph;
  result.outputs.clear();
  for (const ValueId id : values) {
    if (std::ranges::find(graph.inputs, id) == graph.inputs.end()) result.outputs.push_back(id);
  }
  return result;
}

std::map<std::string, ValueId> values_by_name(const Graph& graph) {
  std::map<std::string, ValueId> result;
  for (size_t i = 0; i < graph.values.size(); ++i)
    result.emplace(graph.values[i].name, static_cast<ValueId>(i));
  return result;
}

/// Runs samples and updates the statistics.
class Observation {
 public:
  Observation(const Graph& graph, const MakeRunner& make_runner, Calibration& calibration, int threads)
      : graph_(graph), make_runner_(make_runner), calibration_(calibration), threads_(threads) {
    const auto by_name = values_by_name(graph);
    for (const TensorStatistics& tensor : calibration.tensors) values_.push_back(by_name.at(tensor.name));
    observed_ = observing(graph, values_);
  }

  void add(const Samples& samples) {
    std::map<ValueId, Tensor> found;
    for (size_t i = 0; i < graph_.inputs.size(); ++i) found[graph_.inputs[i]] = samples.inputs[i];
    const std::vector<ValueId>& outputs = observed_.outputs;
    if (runner_ == nullptr && !outputs.empty()) runner_ = make_runner_(observed_, samples.inputs);
    if (runner_ != nullptr) {
      std::vector<Tensor> results = runner_->run(samples.inputs);
      for (size_t i = 0; i < results.size(); ++i) found[outputs[i]] = std::move(results[i]);
    }
    calibration_.samples += samples.count;
    const auto count = static_cast<int64_t>(values_.size());
    std::vector<char> good(values_.size(), 1);
#pragma omp parallel for schedule(dynamic) num_threads(threads_)
    for (int64_t i = 0; i < count; ++i) {
      const auto k = static_cast<size_t>(i);
      good[k] = calibration_.tensors[k].add(found.at(values_[k]), calibration_.samples) ? 1 : 0;
    }
    const auto bad = std::ranges::find(good, 0);
    if (bad == good.end()) return;
    fail_bad_input("{}: tensor '{}' holds NaN or infinity for this sample, which no integer stands for",
                   samples.sources.back(),
                   calibration_.tensors[static_cast<size_t>(bad - good.begin())].name);
  }

 private:
  const Graph& graph_;
  const MakeRunner& make_runner_;
  Calibration& calibration_;
  int threads_;
  std::vector<ValueId> values_;
  Graph observed_;
  std::unique_ptr<Runner> runner_;
};

base::Progress progress_of(const CalibrationData& data, const Calibration& calibration, double seconds,
                           double share_before) {
  base::Progress progress;
  progress.done_seconds = seconds;
  progress.left_seconds = std::numeric_limits<double>::infinity();
  const auto share = data.progress();
  if (share && *share > share_before)
    progress.left_seconds = seconds * (1 - *share) / (*share - share_before);
  progress.doing =
      fmt::format("calibrating, {} sample{}", calibration.samples, calibration.samples == 1 ? "" : "s");
  return progress;
}

std::string numbers_text(const std::vector<float>& numbers) {
  return fmt::format("{}", fmt::join(numbers, ","));
}

}  // namespace

bool TensorStatistics::add(const Tensor& value, int64_t samples) {
  const double before = histogram.amax();
  if (!histogram.add(value.values<float>())) return false;
  if (histogram.amax() > before) growth.push_back({samples, histogram.amax()});
  if (channel_axis < 0 || channel_axis >= value.rank() || value.size() == 0) return true;
  const auto channels = static_cast<size_t>(value.shape()[static_cast<size_t>(channel_axis)]);
  channel_sums.resize(std::max(channels, channel_sums.size()));
  add_channel_sums(value, static_cast<size_t>(channel_axis), channel_sums);
  channel_count += value.size() / static_cast<int64_t>(channels);
  return true;
}

std::vector<double> TensorStatistics::channel_means() const {
  std::vector<double> means = channel_sums;
  for (double& mean : means) mean /= static_cast<double>(std::max<int64_t>(channel_count, 1));
  return means;
}

Calibration begin_calibration(const Graph& graph, const Placement& placement, const DataOptions& options) {
  Calibration calibration;
  calibration.model = fingerprint_of(graph);
  calibration.sources = options.sources;
  for (const QuantizedValue& value : placement.values) {
    TensorStatistics tensor;
    tensor.name = graph.value(value.value).name;
    tensor.channel_axis = value.channel_axis;
    calibration.tensors.push_back(std::move(tensor));
  }
  return calibration;
}

void calibrate(const Graph& graph, CalibrationData& data, const MakeRunner& make_runner,
               const CalibrateOptions& options, Calibration& calibration) {
  const auto begin = base::Clock::now();
  const int64_t known = calibration.samples;
  for (int64_t skipped = 0; skipped < known;) {
    const auto samples = data.next();
    if (!samples) fail_bad_input("the data hold {} samples, of which {} were seen before", skipped, known);
    skipped += samples->count;
  }
  const double share_before = data.progress().value_or(0);
  Observation observation(graph, make_runner, calibration, options.threads);
  while (options.stop == nullptr || !options.stop->load()) {
    const auto samples = data.next();
    if (!samples) {
      calibration.finished = true;
      break;
    }
    observation.add(*samples);
    if (options.progress)
      options.progress(progress_of(data, calibration, base::seconds_since(begin), share_before));
  }
}

std::string preprocessing_text(const DataOptions& options) {
  const importer::Preprocessing& how = options.preprocessing;
  return fmt::format("resize {}, crop {}, scale {}, mean {}, std {}, layout {}", how.resize, how.crop,
                     how.scale, numbers_text(how.mean), numbers_text(how.std),
                     !options.layout                              ? "of the model"
                     : *options.layout == importer::Layout::kNchw ? "nchw"
                                                                  : "nhwc");
}

Convergence convergence_of(const Calibration& calibration) {
  Convergence result;
  const double border = 0.75 * static_cast<double>(calibration.samples);
  for (const TensorStatistics& tensor : calibration.tensors) {
    double before = 0;
    for (const auto& growth : tensor.growth) {
      if (static_cast<double>(growth.samples) <= border) before = growth.amax;
    }
    const double amax = tensor.histogram.amax();
    const double share = amax > 0 ? (amax - before) / amax : 0;
    if (share > Convergence::kSettled) ++result.growing;
    if (share <= result.most) continue;
    result.most = share;
    result.tensor = tensor.name;
  }
  return result;
}

}  // namespace hone::quantize
