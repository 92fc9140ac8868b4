// See int8_model.hpp.
#include "backend/hone/int8_model.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "backend/hone/calibration_runner.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "graph/operator.hpp"
#include "import/input_files.hpp"
#include "quantize/float_graph.hpp"
#include "quantize/quantize.hpp"
#include "tensor/convert.hpp"

namespace hone::backend {
namespace {

using tensor::Tensor;

constexpr size_t kGeneratedSamples = 4;
constexpr uint64_t kSeed = 45;
/// Generated indices are at most this number.
constexpr size_t kMostInteger = 9;

using Shapes = std::map<std::string, engine::ShapeProfile>;

/// The shape of one sample: open sizes come from `shapes`, and the batch is 1.
tensor::Shape generated_shape(const graph::Value& value, const Shapes& shapes) {
  const auto named = shapes.find(value.name);
  const tensor::Shape given = named == shapes.end() ? tensor::Shape() : named->second.opt;
  if (!value.type.ranked()) {
    if (given.empty())
      fail_usage("input '{}' has no shape, so no inputs can be generated to calibrate with", value.name);
    return given;
  }
  tensor::Shape shape;
  for (size_t i = 0; i < value.type.dims->size(); ++i) {
    const graph::Dim& dim = (*value.type.dims)[i];
    if (!dim.known() && i > 0 && i >= given.size())
      fail_usage("input '{}' is {}: fix its sizes, or give data to calibrate with", value.name,
                 value.type.text());
    shape.push_back(dim.known() ? dim.value() : i == 0 ? 1 : given[i]);
  }
  return shape;
}

/// The largest integer for an input: the last row of the smallest table that it indexes, or 1 if it indexes
/// no table, since it is then a mask or a count.
size_t most_integer(const graph::Graph& graph, graph::ValueId input) {
  std::set<graph::ValueId> indices = {input};
  std::optional<size_t> most;
  for (const graph::Node& node : graph.nodes) {
    const graph::Traits& traits = graph::traits_of(node);
    if ((traits.moves_only || traits.converts) && indices.contains(node.input(0)))
      indices.insert(node.outputs.begin(), node.outputs.end());
    indices.erase(graph::kNoValue);
    if (!traits.indexes_axis || !indices.contains(node.input(1))) continue;
    const graph::TensorType& table = graph.value(node.inputs[0]).type;
    if (!table.ranked() || table.dims->empty()) continue;
    const auto axis =
        tensor::normalize_axis(node.attributes.get_int("axis"), static_cast<int64_t>(table.dims->size()));
    const graph::Dim& rows = (*table.dims)[static_cast<size_t>(axis)];
    const size_t last =
        rows.known() ? static_cast<size_t>(std::max<int64_t>(rows.value(), 1)) - 1 : kMostInteger;
    most = std::min(most.value_or(kMostInteger), last);
  }
  return most.value_or(1);
}

Tensor generated_input(const graph::Graph& graph, graph::ValueId id, const Shapes& shapes,
                       base::Random& random) {
  const graph::Value& value = graph.value(id);
  Tensor floats(tensor::DType::kFloat32, generated_shape(value, shapes));
  const bool whole = !tensor::is_floating(value.type.dtype);
  const size_t most = whole ? most_integer(graph, id) : 0;
  const auto integer = [&] { return most == 0 ? 0.0F : static_cast<float>(1 + random.below(most)); };
  for (float& number : floats.mutable_values<float>())
    number = whole ? integer() : static_cast<float>(random.normal());
  return value.type.dtype == tensor::DType::kFloat32 ? floats : floats.cast(value.type.dtype);
}

std::vector<std::vector<Tensor>> generated_samples(const graph::Graph& graph, const Shapes& shapes) {
  base::Random random(kSeed);
  std::vector<std::vector<Tensor>> samples(kGeneratedSamples);
  for (std::vector<Tensor>& inputs : samples) {
    for (const graph::ValueId id : graph.inputs) inputs.push_back(generated_input(graph, id, shapes, random));
  }
  return samples;
}

quantize::QuantizeOptions options_for(const engine::Device& device, int threads,
                                      const std::function<void(const base::Progress&)>& progress) {
  quantize::QuantizeOptions options;
  const bool cpu = device.place().kind == tensor::PlaceKind::kCpu;
  options.target = cpu ? quantize::Target::kCpu : quantize::Target::kCuda;
  options.threads = threads;
  options.progress = progress;
  options.stop = &system::interruption();
  return options;
}

/// Describes for people the origin of the ranges and their accuracy on real data.
std::string origin_text(const Int8Request& request, const quantize::Calibration& calibration,
                        const std::optional<quantize::Accuracy>& accuracy, int64_t fitted) {
  if (!request.cache.empty()) return request.cache.string();
  if (request.data.sources.empty()) return "generated";
  std::string text = fmt::format("{} samples", calibration.samples);
  if (fitted > 0) text += fmt::format(" ({})", importer::fitted_text(fitted));
  if (!accuracy) return text;
  text += fmt::format(", error {:.3g} % against fp32", 100 * accuracy->relative_error);
  if (accuracy->top1) text += fmt::format(" and the same top class {:.1f} %", 100 * *accuracy->top1);
  return text + fmt::format(" on {} of them", accuracy->samples);
}

}  // namespace

quantize::DataOptions calibration_data(const Int8Request& request, const importer::Metadata& metadata,
                                       const graph::Graph& graph, const Shapes& shapes) {
  quantize::DataOptions data = request.data;
  data.preprocessing = importer::preprocessing_from(metadata);
  if (data.sources.empty() && request.cache.empty()) data.given = generated_samples(graph, shapes);
  return data;
}

Int8Model with_int8(const importer::Model& model, const Int8Request& request, const Shapes& shapes,
                    const engine::Device& device, int threads,
                    const std::function<void(const base::Progress&)>& progress,
                    std::optional<quantize::Target> target) {
  const bool given = !request.data.sources.empty() || !request.cache.empty();
  if (!request.data.sources.empty() && !request.cache.empty())
    fail_usage("give either --calibrate with data or --calib with a calibration cache");
  if (const std::string node = quantize::quantized_part(*model.graph); !node.empty()) {
    if (given)
      fail_usage("the model has its own quantization ({}), which calibration would not change", node);
    return {model, {kQuantizedByModel, nullptr}};
  }
  if (!given && !request.generated) {
    fail_usage(
        "int8 needs ranges: give --calibrate with data or --calib with a calibration cache, or a model that "
        "is "
        "quantized already");
  }
  const quantize::Subject subject = quantize::prepare(*model.graph);
  quantize::QuantizeOptions options = options_for(device, threads, progress);
  const auto make_runner = engine_runners(threads);
  options.target = target.value_or(options.target);
  quantize::DataOptions data = calibration_data(request, model.metadata, subject.graph, shapes);
  int64_t fitted = 0;
  data.on_fitted = [&fitted](int64_t side) { fitted = side; };
  if (!given) {
    options.calibrator = quantize::Calibrator::kMinmax;
    options.equalize = false;
    options.judge.samples = 0;
  }
  quantize::CachedCalibration cached;
  if (request.cache.empty()) {
    cached.calibration = quantize::calibrate(subject, data, {}, make_runner, options);
  } else {
    cached = quantize::calibration_from(request.cache, subject);
  }
  quantize::Quantized result =
      quantize::quantize(subject, cached.calibration, cached.ranges, request.cache.empty() ? &data : nullptr,
                         make_runner, options);
  importer::Model quantized = model;
  for (const auto& [key, value] : cached.calibration.image_metadata) quantized.metadata[key] = value;
  quantized.graph = std::make_shared<const graph::Graph>(std::move(result.graph));
  return {std::move(quantized),
          {fmt::format("calibration: {}", origin_text(request, cached.calibration, result.accuracy, fitted)),
           model.graph}};
}

}  // namespace hone::backend
