// See layer_files.hpp.
#include "record/layer_files.hpp"

#include <cmath>
#include <map>
#include <string>

#include "backend/tensorrt/layers.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/units.hpp"

namespace hone::record {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLatency = "trt_layer_latency.json";
constexpr const char* kInformation = "trt_engine_info.json";
constexpr const char* kOwn = "hone_layers.json";
constexpr uint64_t kLargestFile = uint64_t{256} << 20;
constexpr double kNanosecondsPerMs = 1e6;

/// Members of the additional file that hone writes.
struct Own {
  std::string model;
  double engine_ms = 0;
  base::Summary sum;
  struct Layer {
    double sd_ms = 0;
    std::vector<std::string> nodes;
  };
  std::map<std::string, Layer> layers;
};

double number(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) fail_bad_input("'{}' is missing or no number", name);
  const auto value = found->get<double>();
  if (!std::isfinite(value) || value < 0) fail_bad_input("'{}' is {}", name, value);
  return value;
}

std::string text(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

Json read_json(const fs::path& file) {
  Json json = Json::parse(base::read_file(file, kLargestFile), nullptr, false);
  if (json.is_discarded()) fail_bad_input("it is no JSON");
  return json;
}

Own read_own(const fs::path& file) {
  Own own;
  if (!fs::exists(file)) return own;
  const Json json = read_json(file);
  if (!json.is_object() || !json.contains("layers") || !json["layers"].is_array())
    fail_bad_input("it is no object with 'layers'");
  own.model = text(json, "model");
  if (json.contains("engine_ms")) own.engine_ms = number(json, "engine_ms");
  for (const Json& row : json["layers"]) {
    if (!row.is_object()) fail_bad_input("a layer is no object");
    Own::Layer& layer = own.layers[text(row, "name")];
    if (row.contains("sd_ms")) layer.sd_ms = number(row, "sd_ms");
    if (!row.contains("nodes") || !row["nodes"].is_array()) continue;
    for (const Json& node : row["nodes"]) {
      if (node.is_string()) layer.nodes.push_back(node.get<std::string>());
    }
  }
  return own;
}

analysis::Layer layer_of(const backend::StepInfo& step, const Own& own) {
  analysis::Layer layer;
  layer.name = step.name;
  layer.kind = step.kind;
  layer.tactic = step.tactic;
  layer.inputs = Json(step.inputs).dump();
  layer.outputs = Json(step.outputs).dump();
  const auto known = own.layers.find(step.name);
  layer.sources = Json(known == own.layers.end() ? step.sources : known->second.nodes).dump();
  layer.predecessors = step.predecessors;
  if (!step.tactic.empty()) layer.kernels.push_back({step.tactic, 1});
  return layer;
}

/// Fills in the times by layer name, and adds layers that the engine's information lacks.
void add_times(const Json& latency, const Own& own, analysis::LayerTable& table) {
  if (!latency.is_array() || latency.empty() || !latency[0].is_object())
    fail_bad_input("it is no list that begins with an object with 'count'");
  const auto runs = static_cast<int64_t>(number(latency[0], "count"));
  std::map<std::string, size_t> places;
  for (size_t i = 0; i < table.layers.size(); ++i) places.emplace(table.layers[i].name, i);
  double sum = 0;
  double variance = 0;
  for (size_t i = 1; i < latency.size(); ++i) {
    if (!latency[i].is_object()) fail_bad_input("entry {} is no object", i);
    const std::string name = text(latency[i], "name");
    if (name.empty()) fail_bad_input("entry {} has no name", i);
    const auto [place, is_new] = places.try_emplace(name, table.layers.size());
    if (is_new) {
      backend::StepInfo step;
      step.name = name;
      step.sources = backend::tensorrt::nodes_of_layer(name, "");
      table.layers.push_back(layer_of(step, own));
    }
    base::Summary& time = table.layers[place->second].time;
    const auto known = own.layers.find(name);
    const bool has_spread = known != own.layers.end() && known->second.sd_ms > 0;
    // A mean without a spread counts as a single run.
    time.n = has_spread ? runs : 1;
    time.mean = kNanosecondsPerMs * number(latency[i], "averageMs");
    time.p50 = kNanosecondsPerMs * number(latency[i], "medianMs");
    time.sd = has_spread ? kNanosecondsPerMs * known->second.sd_ms : 0;
    sum += time.mean;
    variance += time.sd * time.sd;
  }
  table.layer_sum.n = own.layers.empty() ? 1 : runs;
  table.layer_sum.mean = table.layer_sum.p50 = sum;
  table.layer_sum.sd = std::sqrt(variance);
}

template <class F>
auto speaking_of(const fs::path& file, F&& action) {
  try {
    return action();
  } catch (const Error& error) {
    if (error.where().starts_with(file.string()) || error.kind() != ErrorKind::kBadInput) throw;
    throw error.within(file.string());
  }
}

}  // namespace

bool holds_layer_files(const fs::path& folder) {
  return fs::exists(folder / kLatency) && fs::exists(folder / kInformation);
}

analysis::DiffSide read_layer_files(const fs::path& folder) {
  const Own own = speaking_of(folder / kOwn, [&] { return read_own(folder / kOwn); });
  analysis::DiffSide side;
  side.layers_only = true;
  side.recorded.model = own.model;
  speaking_of(folder / kInformation, [&] {
    const std::string information = base::read_file(folder / kInformation, kLargestFile);
    for (const backend::StepInfo& step : backend::tensorrt::layers_of(information))
      side.layers.layers.push_back(layer_of(step, own));
  });
  speaking_of(folder / kLatency, [&] { add_times(read_json(folder / kLatency), own, side.layers); });
  const double together = side.layers.layer_sum.mean;
  if (own.engine_ms > 0)
    side.notes.push_back(
        fmt::format("its profiler times each layer, which makes them take {} together; without it the engine "
                    "takes {}, {:.2f} "
                    "times less",
                    base::time_text(together), base::time_text(kNanosecondsPerMs * own.engine_ms),
                    together / (kNanosecondsPerMs * own.engine_ms)));
  return side;
}

}  // namespace hone::record
