// See quantize.hpp.
#include "quantize/quantize.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "base/error.hpp"
#include "quantize/equalization.hpp"
#include "quantize/float_graph.hpp"
#include "quantize/tensorrt_cache.hpp"

namespace hone::quantize {
namespace {

using graph::Graph;
using tensor::Tensor;

constexpr double kHighest = 127;

/// Adds the float32 values of the model that are neither constants nor quantized.
void add_every_tensor(const Graph& model, Calibration& calibration) {
  std::set<std::string> known;
  for (const TensorStatistics& tensor : calibration.tensors) known.insert(tensor.name);
  std::vector<graph::ValueId> values = model.inputs;
  for (const graph::Node& node : model.nodes)
    values.insert(values.end(), node.outputs.begin(), node.outputs.end());
  for (const graph::ValueId id : values) {
    if (id == graph::kNoValue) continue;
    const graph::Value& value = model.value(id);
    if (value.type.dtype != tensor::DType::kFloat32 || !known.insert(value.name).second) continue;
    TensorStatistics tensor;
    tensor.name = value.name;
    calibration.tensors.push_back(std::move(tensor));
  }
}

bool has_all_names(const Graph& graph, const Calibration& calibration) {
  std::set<std::string> names;
  for (const graph::Value& value : graph.values) {
    if (!value.constant) names.insert(value.name);
  }
  return std::ranges::all_of(calibration.tensors, [&](const auto& t) { return names.contains(t.name); });
}

/// The unfinished calibration of the file, or `fresh`.
Calibration resumed(const std::filesystem::path& cache, Calibration fresh) {
  if (cache.empty() || !std::filesystem::exists(cache)) return fresh;
  CachedCalibration cached = read_calibration(cache);
  if (cached.calibration.finished) return fresh;
  check_belongs(cache, cached.calibration, fresh);
  const bool same = cached.calibration.sources == fresh.sources &&
                    cached.calibration.preprocessing == fresh.preprocessing &&
                    cached.calibration.tensors.size() == fresh.tensors.size();
  if (!same) {
    fail_bad_input(
        "{}: it is an unfinished calibration on other data or with other preprocessing: remove it to begin "
        "anew",
        cache.string());
  }
  return std::move(cached.calibration);
}

/// Returns up to `count` samples from the start of the data.
std::vector<Samples> first_samples(const Graph& graph, const DataOptions& data, int64_t count) {
  DataOptions some = data;
  some.limit = data.limit > 0 ? std::min(data.limit, count) : count;
  CalibrationData source(graph, some);
  std::vector<Samples> result;
  while (auto samples = source.next()) result.push_back(std::move(*samples));
  return result;
}

int64_t count_of(const std::vector<Samples>& samples) {
  int64_t count = 0;
  for (const Samples& sample : samples) count += sample.count;
  return count;
}

ChannelMeans means_of(const Placement& placement, const Calibration& calibration) {
  ChannelMeans means;
  for (size_t i = 0; i < placement.values.size(); ++i) {
    if (placement.values[i].channel_axis >= 0)
      means[placement.values[i].value] = calibration.tensors[i].channel_means();
  }
  return means;
}

/// Number of samples that run together if the batch is open, when the result is judged.
constexpr int64_t kTogether = 16;

/// The first `count` samples for judging the result, and the labels of their rows.
struct Judged {
  std::vector<Samples> samples;
  std::vector<int64_t> labels;
};

Judged judged(const Graph& graph, const DataOptions& data, const JudgeOptions& options, int64_t count) {
  DataOptions together = data;
  together.together = kTogether;
  Judged result{first_samples(graph, together, count), {}};
  if (!options.labels) return result;
  const bool all = count_of(result.samples) < (data.limit > 0 ? std::min(count, data.limit) : count);
  const graph::TensorType& type = graph.value(graph.outputs.front()).type;
  const bool is_open = !type.ranked() || type.dims->size() != 2 || !type.dims->back().known();
  const int64_t classes = is_open ? std::numeric_limits<int64_t>::max() : type.dims->back().value();
  result.labels = labels_of(*options.labels, result.samples, classes, all);
  return result;
}

/// Compares with the original. If there is a budget, converts layers of the equalized graph back to floating
/// point.
void judge(const Subject& subject, const Graph& graph, const DataOptions& data, const QdqOptions& qdq,
           const MakeRunner& make_runner, const QuantizeOptions& options, Quantized& result) {
  Judged all = judged(subject.graph, data, options.judge, options.judge.samples);
  std::vector<Samples> few;
  std::vector<int64_t> few_labels;
  if (options.budget) {
    const int64_t count = samples_for_sensitivity(subject.graph, all.samples.front());
    few = first_samples(subject.graph, data, std::min(count, options.judge.samples));
    if (!all.labels.empty()) few_labels = {all.labels.begin(), all.labels.begin() + count_of(few)};
  }
  const Evaluator evaluator(subject.graph, std::move(all.samples), std::move(all.labels), make_runner,
                            options.stop);
  if (!options.budget) {
    result.accuracy = evaluator.accuracy_of(result.graph);
    return;
  }
  const QuantizedForm form{graph, result.whole, result.rules, result.scales, qdq};
  const BudgetOptions how{*options.budget, options.time_nodes, options.progress, options.stop};
  result.budget = within_budget(form, evaluator, few, few_labels, make_runner, how);
  result.graph = std::move(result.budget->graph);
  result.placement = std::move(result.budget->placement);
  result.accuracy = result.budget->choice.tried[result.budget->choice.chosen].accuracy;
}

CachedCalibration from_tensorrt(const std::filesystem::path& file, const Subject& subject) {
  const TensorrtCache cache = read_tensorrt_cache(file);
  CachedCalibration result;
  result.calibration = begin_calibration(subject.graph, subject.placement, {});
  result.calibration.finished = true;
  result.calibration.samples = 1;
  for (TensorStatistics& tensor : result.calibration.tensors) {
    const auto found =
        std::ranges::find_if(cache.scales, [&](const auto& s) { return s.first == tensor.name; });
    if (found == cache.scales.end())
      fail_bad_input("{}: it has no scale for tensor '{}', which is to be quantized", file.string(),
                     tensor.name);
    const double amax = static_cast<double>(found->second) * kHighest;
    const float ends[] = {static_cast<float>(-amax), static_cast<float>(amax)};
    if (!tensor.histogram.add(ends))
      fail_bad_input("{}: tensor '{}' has the scale {}", file.string(), tensor.name, found->second);
    result.ranges.push_back({Calibrator::kMinmax, {-amax, amax}});
  }
  return result;
}

}  // namespace

Subject prepare(const Graph& model) {
  if (const std::string node = quantized_part(model); !node.empty()) {
    fail_bad_input("{} is quantized already: calibration is for models in floating point", node);
  }
  Subject subject{model, float_graph(model), {}};
  subject.placement = place(subject.graph);
  if (subject.placement.weighted.empty()) {
    const std::vector<FloatProduct>& kept = subject.placement.kept;
    const std::string why =
        kept.empty() ? "" : fmt::format(" ({}: {})", kept.front().node, kept.front().reason);
    fail_bad_input("the model has no convolution or matrix product that could be quantized{}", why);
  }
  return subject;
}

Calibration calibrate(const Subject& subject, const DataOptions& data, const std::filesystem::path& cache,
                      const MakeRunner& make_runner, const QuantizeOptions& options, int64_t* left_over) {
  Calibration calibration = begin_calibration(subject.graph, subject.placement, data);
  calibration.preprocessing = preprocessing_text(data);
  calibration.image_metadata = data.image_metadata;
  if (options.every_tensor) add_every_tensor(subject.model, calibration);
  calibration = resumed(cache, std::move(calibration));
  if (options.equalize && !options.every_tensor && calibration.samples == 0) {
    const auto few = first_samples(subject.graph, data, options.selection_samples);
    calibration.equalization = choose_equalization(subject.graph, subject.placement, few, make_runner,
                                                   {options.target, options.progress, options.stop});
  }
  const Graph equalized = with_equalization(subject.graph, subject.placement, calibration.equalization);
  // Folding keeps the names of the remaining values, but TensorRT's cache also names others.
  const Graph& observed =
      options.every_tensor && has_all_names(subject.model, calibration) ? subject.model : equalized;
  if (!has_all_names(observed, calibration)) fail_internal("a tensor to observe is not in the graph");
  CalibrationData source(subject.graph, data);
  const CalibrateOptions how{options.progress, options.stop, options.threads};
  try {
    calibrate(observed, source, make_runner, how, calibration);
  } catch (const system::Interrupted&) {
    // Interrupted while waiting for a program: the statistics so far are valid.
  }
  if (left_over != nullptr) *left_over = source.left_over();
  if (calibration.finished) return calibration;
  if (!cache.empty()) write_calibration(cache, {calibration, {}});
  throw system::Interrupted{};
}

void check_judged(const Subject& subject, const DataOptions* data, const QuantizeOptions& options) {
  if (!options.judge.data && !options.judge.labels) return;
  const DataOptions* judged_on = options.judge.data ? &*options.judge.data : data;
  if (judged_on != nullptr) judged(subject.graph, *judged_on, options.judge, options.judge.samples);
}

Quantized quantize(const Subject& subject, const Calibration& calibration,
                   const std::vector<ChosenRange>& cached, const DataOptions* data,
                   const MakeRunner& make_runner, const QuantizeOptions& options) {
  if (calibration.samples == 0) fail_bad_input("the calibration saw no samples");
  if (options.every_tensor && !calibration.equalization.empty())
    fail_bad_input(
        "the calibration is of the equalized model, and TensorRT reads the original: calibrate with "
        "--no-equalization");
  Quantized result;
  result.rules = rules_of(options.target);
  result.whole = restricted(subject.graph, subject.placement, result.rules);
  const Placement& placement = result.whole;
  const Graph graph = with_equalization(subject.graph, subject.placement, calibration.equalization);
  const ChannelMeans means = means_of(placement, calibration);
  RoundedWeights rounded;
  if (options.gptq && data != nullptr) {
    const int64_t count = samples_for_sensitivity(graph, first_samples(graph, *data, 1).front());
    rounded = gptq_weights(graph, placement, first_samples(graph, *data, count), make_runner,
                           options.progress, options.stop);
  }
  const QdqOptions qdq{has_integer_bias(options.target), options.bias_correction ? &means : nullptr,
                       &rounded};
  const RangeOptions ranges{options.target, options.calibrator_options};
  if (options.calibrator) {
    result.ranges = ranges_by(*options.calibrator, placement, calibration, ranges);
  } else if (data != nullptr) {
    const auto samples = first_samples(graph, *data, options.selection_samples);
    const SelectOptions how{ranges, qdq, options.progress, options.stop};
    Selection selection = select_ranges(graph, placement, calibration, samples, make_runner, how);
    result.ranges = std::move(selection.ranges);
    result.errors = std::move(selection.errors);
  } else {
    if (cached.size() < placement.values.size())
      fail_bad_input("the calibration cache holds no ranges: give --calibrator, or --calibrate with data");
    result.ranges.assign(cached.begin(),
                         cached.begin() + static_cast<std::ptrdiff_t>(placement.values.size()));
  }
  result.scales = scales_of(result.ranges, placement, calibration, options.target);
  result.graph = with_qdq(graph, placement, result.scales, qdq);
  result.placement = placement;
  const DataOptions* judged_on = options.judge.data ? &*options.judge.data : data;
  if (judged_on != nullptr && options.judge.samples > 0)
    judge(subject, graph, *judged_on, qdq, make_runner, options, result);
  // Tensors that are observed only for TensorRT's cache.
  for (size_t i = result.ranges.size(); i < calibration.tensors.size(); ++i) {
    const Calibrator calibrator = options.calibrator.value_or(Calibrator::kEntropy);
    result.ranges.push_back({calibrator, choose_range(calibration.tensors[i].histogram, calibrator,
                                                      IntegerForm::kSymmetric, options.calibrator_options)});
  }
  return result;
}

CachedCalibration calibration_from(const std::filesystem::path& file, const Subject& subject) {
  if (is_tensorrt_cache(file)) return from_tensorrt(file, subject);
  CachedCalibration cached = read_calibration(file);
  check_belongs(file, cached.calibration, begin_calibration(subject.graph, subject.placement, {}));
  if (!cached.calibration.finished)
    fail_bad_input(
        "{}: the calibration is unfinished after {} samples: run it again with the same data to finish",
        file.string(), cached.calibration.samples);
  return cached;
}

void write_for_tensorrt(const std::filesystem::path& file, const Calibration& calibration,
                        const std::vector<ChosenRange>& ranges, int version) {
  const bool minmax = std::ranges::all_of(
      ranges, [](const ChosenRange& range) { return range.calibrator == Calibrator::kMinmax; });
  TensorrtCache cache{tensorrt_header(version, minmax), {}};
  for (size_t i = 0; i < ranges.size(); ++i) {
    const Scale scale = scale_of(ranges[i].range, IntegerForm::kSymmetric);
    cache.scales.emplace_back(calibration.tensors[i].name, scale.scale);
  }
  write_tensorrt_cache(file, cache);
}

}  // namespace hone::quantize
