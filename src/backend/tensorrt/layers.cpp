// See layers.hpp.
#include "backend/tensorrt/layers.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/error.hpp"
#include "base/statistics.hpp"
#include "tensor/shape.hpp"

namespace hone::backend::tensorrt {
namespace {

constexpr std::string_view kOnnxLayer = "[ONNX Layer: ";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

void add_once(std::vector<std::string>& names, std::string_view name) {
  if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) return;
  names.emplace_back(name);
}

std::vector<std::string> nodes_of_metadata(std::string_view metadata) {
  std::vector<std::string> nodes;
  for (size_t at = metadata.find(kOnnxLayer); at != std::string_view::npos;) {
    const size_t begin = at + kOnnxLayer.size();
    const size_t next = metadata.find(kOnnxLayer, begin);
    // Names may contain brackets, so the last bracket before the next separator ends this name.
    std::string_view item = metadata.substr(begin, next == std::string_view::npos ? next : next - begin);
    item = item.substr(0, item.find_first_of("\x1e\x1f"));
    if (const size_t end = item.rfind(']'); end != std::string_view::npos) item = item.substr(0, end);
    add_once(nodes, item);
    at = next;
  }
  return nodes;
}

/// Splits `text` at the separators that are outside brackets.
std::vector<std::string_view> parts(std::string_view text) {
  constexpr std::string_view kSeparators[] = {" + ", " || ", ", ", "..."};
  std::vector<std::string_view> result;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[') ++depth;
    if (text[i] == ')' || text[i] == ']') --depth;
    if (depth > 0) continue;
    for (const std::string_view separator : kSeparators) {
      if (text.substr(i, separator.size()) != separator) continue;
      result.push_back(trimmed(text.substr(begin, i - begin)));
      begin = i + separator.size();
      i = begin - 1;
      break;
    }
  }
  result.push_back(trimmed(text.substr(begin)));
  return result;
}

/// Returns the layer that a reformatting serves: "conv1 + relu1" for "Reformatting CopyNode for Input Tensor
/// 0 to conv1 + relu1".
std::string_view without_reformatting(std::string_view name) {
  constexpr std::string_view kReformats = "Reformatting CopyNode for ";
  if (!name.starts_with(kReformats)) return name;
  for (const std::string_view way : {" to ", " from "}) {
    if (const size_t at = name.find(way, kReformats.size()); at != std::string_view::npos)
      return name.substr(at + way.size());
  }
  return name;
}

void add_nodes_of_name(std::string_view name, std::vector<std::string>& nodes) {
  for (const std::string_view part : parts(name)) {
    const size_t open = part.find_first_of("([");
    const bool wraps = (part.starts_with("PWN(") && part.back() == ')') ||
                       (part.starts_with("{ForeignNode[") && part.ends_with("]}"));
    if (!wraps) {
      add_once(nodes, part);
      continue;
    }
    const size_t end = part.find_last_of(")]");
    add_nodes_of_name(part.substr(open + 1, end - open - 1), nodes);
  }
}

std::string text_of(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

/// Returns a text such as "Half 1x64x56x56"; versions of TensorRT have different keys for the type.
std::string tensor_text(const Json& tensor) {
  if (!tensor.is_object()) return {};
  std::string type;
  for (const char* field : {"Format/Datatype", "Datatype", "DataType"}) {
    if (type.empty()) type = text_of(tensor, field);
  }
  tensor::Shape shape;
  if (const auto dims = tensor.find("Dimensions"); dims != tensor.end() && dims->is_array()) {
    for (const Json& dim : *dims) shape.push_back(dim.is_number_integer() ? dim.get<int64_t>() : -1);
  }
  return fmt::format("{} {}", tensor::shape_text(shape), type);
}

std::vector<std::string> tensors_of(const Json& layer, const char* name, std::vector<std::string>* names) {
  std::vector<std::string> texts;
  const auto found = layer.find(name);
  if (found == layer.end() || !found->is_array()) return texts;
  for (const Json& tensor : *found) {
    texts.push_back(tensor_text(tensor));
    names->push_back(tensor.is_object() ? text_of(tensor, "Name") : "");
  }
  return texts;
}

const Json& layers_in(const Json& json) {
  const auto found = json.is_object() ? json.find("Layers") : json.end();
  if (!json.is_object() || found == json.end() || !found->is_array())
    fail_bad_input("the engine's information is no JSON object with 'Layers'");
  return *found;
}

StepInfo layer_of(const Json& layer, std::map<std::string, int32_t>& makers, int32_t index) {
  StepInfo step;
  if (layer.is_string()) {
    step.name = layer.get<std::string>();
    step.sources = nodes_of_layer(step.name, "");
    return step;
  }
  if (!layer.is_object()) fail_bad_input("layer {} of the engine is neither a name nor an object", index);
  step.name = text_of(layer, "Name");
  step.kind = text_of(layer, "LayerType");
  step.tactic = text_of(layer, "TacticName");
  step.sources = nodes_of_layer(step.name, text_of(layer, "Metadata"));
  std::vector<std::string> read;
  std::vector<std::string> made;
  step.inputs = tensors_of(layer, "Inputs", &read);
  step.outputs = tensors_of(layer, "Outputs", &made);
  for (const std::string& name : read) {
    const auto maker = makers.find(name);
    if (maker == makers.end()) continue;
    if (std::find(step.predecessors.begin(), step.predecessors.end(), maker->second) ==
        step.predecessors.end())
      step.predecessors.push_back(maker->second);
  }
  std::sort(step.predecessors.begin(), step.predecessors.end());
  for (const std::string& name : made) makers[name] = index;
  return step;
}

}  // namespace

std::vector<std::string> nodes_of_layer(std::string_view name, std::string_view metadata) {
  std::vector<std::string> nodes = nodes_of_metadata(metadata);
  if (nodes.empty()) add_nodes_of_name(without_reformatting(name), nodes);
  return nodes;
}

std::vector<StepInfo> layers_of(std::string_view engine_information) {
  const Json json = Json::parse(engine_information, nullptr, false);
  std::vector<StepInfo> steps;
  std::map<std::string, int32_t> makers;
  for (const Json& layer : layers_in(json))
    steps.push_back(layer_of(layer, makers, static_cast<int32_t>(steps.size())));
  return steps;
}

std::vector<LayerTime> named_layers(std::string_view engine_information) {
  std::vector<LayerTime> layers;
  for (StepInfo& step : layers_of(engine_information))
    layers.push_back({.name = std::move(step.name), .nodes = std::move(step.sources)});
  return layers;
}

Json latency_json(const LayerProfile& profile) {
  Json json = Json::array();
  const size_t runs = profile.layers.empty() ? 0 : profile.layers.front().times_ms.size();
  json.push_back({{"count", runs}});
  double total = 0;
  for (const LayerTime& layer : profile.layers)
    total = std::accumulate(layer.times_ms.begin(), layer.times_ms.end(), total);
  for (const LayerTime& layer : profile.layers) {
    const double sum = std::accumulate(layer.times_ms.begin(), layer.times_ms.end(), 0.0);
    const auto count = static_cast<double>(layer.times_ms.size());
    json.push_back({{"name", layer.name},
                    {"timeMs", sum},
                    {"averageMs", count > 0 ? sum / count : 0},
                    {"medianMs", layer.times_ms.empty() ? 0 : base::summarize(layer.times_ms).p50},
                    {"percentage", total > 0 ? 100 * sum / total : 0}});
  }
  return json;
}

}  // namespace hone::backend::tensorrt
