// See source.hpp.
#include "backend/tensorrt/plugin/library/source.hpp"

#include <NvInferVersion.h>

#include <algorithm>
#include <set>

#include "backend/hone/int8_model.hpp"
#include "backend/tensorrt/typed_graph.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/sha256.hpp"
#include "device/devices.hpp"
#include "graph/infer.hpp"
#include "import/onnx/decompose.hpp"
#include "import/onnx/export.hpp"
#include "quantize/float_graph.hpp"

namespace hone::backend::tensorrt {
namespace {

using graph::Graph;

/// Operators that the parsers of a major version lack, or support only through external plugins.
const std::set<std::string_view>& unknown_operators() {
#if NV_TENSORRT_MAJOR < 10
  // The parser does not read Shape with the range that opset 15 added.
  static const std::set<std::string_view> kUnknown = {"Gelu", "GroupNormalization", "Mish", "Shape"};
#else
  static const std::set<std::string_view> kUnknown = {"Mish"};
#endif
  return kUnknown;
}

#if NV_TENSORRT_MAJOR < 10
/// The newest opset that its parser reads; the writer names any node that has no form in it.
int opset_for(const Graph& /*graph*/, bool /*strong*/) { return 17; }
#else
int opset_for(const Graph& graph, bool strong) {
  // From opset 19 on, quantized values may be float16.
  constexpr int kHalfQuantization = 19;
  const int usual = importer::usual_opset(graph);
  const bool quantizes = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                     [](const graph::Node& node) { return node.op == "QuantizeLinear"; });
  return strong && quantizes ? std::max(usual, kHalfQuantization) : usual;
}
#endif

std::map<std::string, engine::ShapeProfile> tuned_for(const std::map<std::string, tensor::Shape>& shapes) {
  std::map<std::string, engine::ShapeProfile> profiles;
  for (const auto& [name, shape] : shapes) profiles[name].opt = shape;
  return profiles;
}

/// hone finds the ranges on the CPU, because it must not create the driver's context here.
Int8Model quantized(const importer::Model& model, const LoadOptions& options,
                    const std::map<std::string, tensor::Shape>& shapes) {
  Int8Request request;
  request.generated = true;
  return with_int8(model, request, tuned_for(shapes), device::find_device("cpu"), options.threads, {},
                   quantize::Target::kTensorrt);
}

}  // namespace

graph::Graph write_for_parser(const std::filesystem::path& file, const Graph& graph) {
  Graph known = importer::decompose(graph, unknown_operators());
  importer::export_onnx(file, known, opset_for(known, /*strong=*/false));
  return known;
}

Source::Source(const importer::Model& model, const LoadOptions& options, const Settings& settings,
               std::vector<std::map<std::string, tensor::Shape>> profiles)
    : file_(scratch_.folder() / "model.onnx"), profiles_(std::move(profiles)) {
  importer::Model source = model;
  if (options.precision == Precision::kInt8 && settings.calibrator == Calibrator::kHone) {
    Int8Model made = quantized(model, options, profiles_.front());
    notes_.push_back(made.source.floats == nullptr ? "int8 by the model's own QuantizeLinear"
                                                   : "Q/DQ by hone, " + made.source.origin);
    source = std::move(made.model);
  } else if (options.precision == Precision::kInt8) {
    prepare_calibration(model, settings);
  }
  graph_ = importer::decompose(*source.graph, unknown_operators());
  if (profiles_.size() == 1) graph_ = graph::with_input_shapes(graph_, profiles_.front());
  const bool int8 = options.precision == Precision::kInt8;
  const Precision floating = int8 ? options.beside_int8 : options.precision;
  graph_ = settings.strong ? typed(graph_, floating) : within_range(graph_, floating);
  importer::export_onnx(file_, graph_, opset_for(graph_, settings.strong));
}

void Source::prepare_calibration(const importer::Model& model, const Settings& settings) {
  if (const std::string node = quantize::quantized_part(*model.graph); !node.empty())
    fail_usage("the model has its own quantization ({}), which TensorRT's calibrator would not change", node);
  Int8Request request;
  request.data.sources = settings.calibration_data;
  request.cache = settings.calibration_cache;
  calibration_data_ =
      backend::calibration_data(request, model.metadata, *model.graph, tuned_for(profiles_.front()));
  const std::string cache = "calibration cache " + settings.calibration_cache;
  notes_.push_back(fmt::format("int8 by TensorRT's own {} calibrator, {}",
                               settings.calibrator == Calibrator::kEntropy ? "entropy" : "minmax",
                               !settings.calibration_cache.empty() ? cache
                               : calibration_data_.sources.empty() ? "calibration: generated"
                                                                   : "calibration: given data"));
}

std::map<std::string, std::vector<std::string>> Source::sources() const {
  std::map<std::string, std::vector<std::string>> sources;
  for (const graph::Node& node : graph_.nodes) sources[node.name] = node.sources;
  return sources;
}

std::string Source::hash() const {
  base::Sha256 hash;
  hash.add(base::read_file(file_));
  if (const auto beside = importer::external_path(file_); std::filesystem::exists(beside))
    hash.add(base::read_file(beside));
  hash.add(Json(profiles_).dump());
  return base::hex(hash.digest());
}

}  // namespace hone::backend::tensorrt
