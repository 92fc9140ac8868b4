// See quantize.hpp.
#include "quantize/quantize.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "quantize/float_graph.hpp"
#include "quantize/tensorrt_cache.hpp"
#include "tensor/metrics.hpp"

namespace hone::quantize {
namespace {

using graph::Graph;
using tensor::Tensor;

constexpr double kHighest = 127;

/// Float32 values of the model that are no constants and not among those to be quantized.
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

/// The unfinished calibration of a file, or `fresh`.
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

/// Up to `count` samples from the start of the data.
std::vector<Samples> first_samples(const Graph& graph, const DataOptions& data, int64_t count) {
  DataOptions some = data;
  some.limit = data.limit > 0 ? std::min(data.limit, count) : count;
  CalibrationData source(graph, some);
  std::vector<Samples> result;
  while (auto samples = source.next()) result.push_back(std::move(*samples));
  return result;
}

ChannelMeans means_of(const Placement& placement, const Calibration& calibration) {
  ChannelMeans means;
  for (size_t i = 0; i < placement.values.size(); ++i) {
    if (placement.values[i].channel_axis >= 0)
      means[placement.values[i].value] = calibration.tensors[i].channel_means();
  }
  return means;
}

Accuracy accuracy_of(const Graph& original, const Graph& quantized, const std::vector<Samples>& samples,
                     const MakeRunner& make_runner) {
  if (samples.empty()) return {};
  const auto a = make_runner(quantized, samples.front().inputs);
  const auto b = make_runner(original, samples.front().inputs);
  Accuracy result;
  double squares = 0;
  double matches = 0;
  double counted = 0;
  bool has_rows = true;
  for (const Samples& sample : samples) {
    const std::vector<Tensor> actual = a->run(sample.inputs);
    const std::vector<Tensor> expected = b->run(sample.inputs);
    result.samples += sample.count;
    for (size_t i = 0; i < actual.size(); ++i) {
      const bool comparable =
          actual[i].dtype() == tensor::DType::kFloat32 && actual[i].shape() == expected[i].shape();
      if (!comparable) continue;
      const double error = tensor::relative_l2(actual[i], expected[i]);
      squares += error * error / static_cast<double>(actual.size());
      result.cosine = std::min(result.cosine, tensor::cosine(actual[i], expected[i]));
    }
    has_rows = has_rows && !actual.empty() && actual[0].rank() == 2 && actual[0].shape()[1] > 1 &&
               actual[0].shape() == expected[0].shape();
    if (!has_rows) continue;
    const auto rows = static_cast<double>(actual[0].shape()[0]);
    matches += rows * tensor::top1_agreement(actual[0], expected[0]);
    counted += rows;
  }
  result.relative_error = std::sqrt(squares / static_cast<double>(std::max<size_t>(samples.size(), 1)));
  if (has_rows && counted > 0) result.top1 = matches / counted;
  return result;
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
    const std::string why = subject.placement.kept.empty() ? "" : " (" + subject.placement.kept.front() + ")";
    fail_bad_input("the model has no convolution or matrix product that could be quantized{}", why);
  }
  return subject;
}

Calibration calibrate(const Subject& subject, const DataOptions& data, const std::filesystem::path& cache,
                      const MakeRunner& make_runner, const QuantizeOptions& options, int64_t* left_over) {
  Calibration calibration = begin_calibration(subject.graph, subject.placement, data);
  calibration.preprocessing = preprocessing_text(data);
  if (options.every_tensor) add_every_tensor(subject.model, calibration);
  calibration = resumed(cache, std::move(calibration));
  // Folding keeps the names of what it leaves, and TensorRT names what it does not leave.
  const Graph& observed =
      options.every_tensor && has_all_names(subject.model, calibration) ? subject.model : subject.graph;
  if (!has_all_names(observed, calibration)) fail_internal("a tensor to observe is not in the graph");
  CalibrationData source(subject.graph, data);
  const CalibrateOptions how{options.progress, options.stop, options.threads};
  try {
    calibrate(observed, source, make_runner, how, calibration);
  } catch (const system::Interrupted&) {
    // While a program was waited for: what was seen before counts.
  }
  if (left_over != nullptr) *left_over = source.left_over();
  if (calibration.finished) return calibration;
  if (!cache.empty()) write_calibration(cache, {calibration, {}});
  throw system::Interrupted{};
}

Quantized quantize(const Subject& subject, const Calibration& calibration,
                   const std::vector<ChosenRange>& cached, const DataOptions* data,
                   const MakeRunner& make_runner, const QuantizeOptions& options) {
  if (calibration.samples == 0) fail_bad_input("the calibration saw no samples");
  Quantized result;
  result.placement = restricted(subject.graph, subject.placement, rules_of(options.target));
  const Placement& placement = result.placement;
  const ChannelMeans means = means_of(placement, calibration);
  const QdqOptions qdq{has_integer_bias(options.target), options.bias_correction ? &means : nullptr};
  const RangeOptions ranges{options.target, options.calibrator_options};
  if (options.calibrator) {
    result.ranges = ranges_by(*options.calibrator, placement, calibration, ranges);
  } else if (data != nullptr) {
    const auto samples = first_samples(subject.graph, *data, options.selection_samples);
    const SelectOptions how{ranges, qdq, options.progress, options.stop};
    Selection selection = select_ranges(subject.graph, placement, calibration, samples, make_runner, how);
    result.ranges = std::move(selection.ranges);
    result.errors = std::move(selection.errors);
  } else {
    if (cached.size() < placement.values.size())
      fail_bad_input("the calibration cache holds no ranges: give --calibrator, or --calibrate with data");
    result.ranges.assign(cached.begin(),
                         cached.begin() + static_cast<std::ptrdiff_t>(placement.values.size()));
  }
  result.scales = scales_of(result.ranges, placement, calibration, options.target);
  result.graph = with_qdq(subject.graph, placement, result.scales, qdq);
  if (data != nullptr && options.accuracy_samples > 0) {
    const auto samples = first_samples(subject.graph, *data, options.accuracy_samples);
    result.accuracy = accuracy_of(subject.graph, result.graph, samples, make_runner);
  }
  // Tensors that are observed for TensorRT's cache only.
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
