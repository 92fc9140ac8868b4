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

namespace hone::backend::tensorrt {
namespace {

using graph::Graph;

/// What the parsers of a major lack, or take only by plugins that are no part of it.
const std::set<std::string_view>& unknown_operators() {
#if NV_TENSORRT_MAJOR < 10
  static const std::set<std::string_view> kUnknown = {"Gelu", "GroupNormalization", "Mish"};
#else
  static const std::set<std::string_view> kUnknown = {"Mish"};
#endif
  return kUnknown;
}

#if NV_TENSORRT_MAJOR < 10
/// The newest that its parser reads; the writer names the node that has no form in it.
int opset_for(const Graph& /*graph*/, bool /*strong*/) { return 17; }
#else
int opset_for(const Graph& graph, bool strong) {
  // From 19 on, what is quantized may be float16.
  constexpr int kHalfQuantization = 19;
  const int usual = importer::usual_opset(graph);
  const bool quantizes = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                     [](const graph::Node& node) { return node.op == "QuantizeLinear"; });
  return strong && quantizes ? std::max(usual, kHalfQuantization) : usual;
}
#endif

/// Ranges are those that hone finds on the CPU, where the driver's context is not hone's to make.
importer::Model quantized(const importer::Model& model, const LoadOptions& options,
                          const std::map<std::string, tensor::Shape>& shapes) {
  std::map<std::string, engine::ShapeProfile> profiles;
  for (const auto& [name, shape] : shapes) profiles[name].opt = shape;
  Int8Request request;
  request.generated = true;
  return with_int8(model, request, profiles, device::find_device("cpu"), options.threads, {});
}

}  // namespace

Source::Source(const importer::Model& model, const LoadOptions& options, const Settings& settings,
               std::vector<std::map<std::string, tensor::Shape>> profiles)
    : file_(scratch_.folder() / "model.onnx"), profiles_(std::move(profiles)) {
  importer::Model source = model;
  if (options.precision == Precision::kInt8) {
    source = quantized(model, options, profiles_.front());
    const auto note = source.metadata.find(kQuantizationNote);
    notes_.push_back(note == source.metadata.end() ? "int8 by the model's own QuantizeLinear"
                                                   : "Q/DQ by hone: " + note->second);
  }
  graph_ = importer::decompose(*source.graph, unknown_operators());
  if (profiles_.size() == 1) graph_ = graph::with_input_shapes(graph_, profiles_.front());
  if (settings.strong) {
    const bool int8 = options.precision == Precision::kInt8;
    graph_ = typed(graph_, int8 ? options.beside_int8 : options.precision);
  }
  importer::export_onnx(file_, graph_, opset_for(graph_, settings.strong));
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
