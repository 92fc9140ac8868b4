// See inspect_layers.hpp.
#include "cli/inspect_layers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "backend/run_precision.hpp"
#include "backend/tensorrt/layers.hpp"
#include "base/file.hpp"
#include "base/statistics.hpp"
#include "base/units.hpp"
#include "bench/sweep/peers.hpp"
#include "bench/worker/inputs.hpp"
#include "bench/worker/worker_client.hpp"
#include "cli/folder.hpp"
#include "cli/option_checks.hpp"
#include "cli/tensorrt_options.hpp"
#include "engine/source_model.hpp"
#include "report/terminal/sheet.hpp"
#include "system/interruption.hpp"
#include "system/scratch.hpp"

namespace hone::cli {
namespace {

constexpr const char* kTensorrt = "tensorrt";
/// TensorRT's builder takes minutes.
constexpr double kTimeoutSeconds = 7200;
constexpr int kMostRuns = 10000;
constexpr size_t kNameWidth = 60;

bool is_plan(const std::string& model) {
  const std::filesystem::path file(model);
  return file.extension() == ".plan" || file.extension() == ".trt";
}

struct Inspected {
  std::vector<std::string> notes;
  std::string version;
  backend::LayerProfile profile;
};

Inspected ask_worker(const LayerOptions& options, const bench::Setup& setup) {
  const system::Scratch scratch;
  const system::Interruptible interruptible;
  const bench::Peers peers({std::filesystem::canonical("/proc/self/exe").string(), "worker"});
  std::optional<bench::ModelInfo> info;
  std::optional<bench::InputPool> inputs;
  bench::LoadRequest request;
  request.setup = setup;
  request.settings = options.settings;
  if (options.trust) request.settings["tensorrt.trust"] = "1";
  if (!is_plan(setup.model)) {
    info = bench::describe_model(engine::load_source_model(setup.model), setup.model,
                                 parse_named_shapes(options.shapes));
    inputs.emplace(*info, setup.batch, scratch.make_folder("inputs"));
    request.inputs = inputs->at_batch(setup.batch, 1);
  }
  bench::WorkerClient worker(peers.command(setup.backend), scratch.folder() / "stderr.txt", kTimeoutSeconds,
                             nullptr);
  Inspected result;
  worker.hello(setup.backend);
  const bench::WorkerLoaded loaded = worker.load(request);
  if (!loaded.has(bench::kLayersFeature))
    fail_environment("the backend {} does not report its layers", setup.backend);
  result.notes = loaded.notes;
  result.version = loaded.version;
  result.profile = worker.layers(is_plan(setup.model) ? 0 : options.runs);
  worker.quit();
  return result;
}

double sum_of_medians(const backend::LayerProfile& profile) {
  double sum = 0;
  for (const backend::LayerTime& layer : profile.layers) sum += base::summarize(layer.times_ms).p50;
  return sum;
}

std::string micro(double milliseconds) { return fmt::format("{:.2f} us", 1e3 * milliseconds); }

void print_text(const Inspected& inspected, const std::string& model) {
  const backend::LayerProfile& profile = inspected.profile;
  const std::vector<backend::StepInfo> steps = backend::tensorrt::layers_of(profile.description);
  fmt::print("{}: {} layers\n", report::printable(model), profile.layers.size());
  for (const std::string& note : inspected.notes) fmt::print("note: {}\n", report::printable(note));
  const bool timed = !profile.engine_ms.empty();
  fmt::print("\n{:>4} {:>12} {:>24}  {:<{}} {}\n", "", timed ? "median" : "", timed ? "95 % interval" : "",
             "layer", kNameWidth, "the model's nodes");
  for (size_t i = 0; i < profile.layers.size(); ++i) {
    const backend::LayerTime& layer = profile.layers[i];
    const base::Summary time = base::summarize(layer.times_ms);
    const std::string kind = i < steps.size() && !steps[i].kind.empty() ? steps[i].kind + " " : "";
    fmt::print("{:>4} {:>12} {:>24}  {:<{}} {}\n", i, timed ? micro(time.p50) : "",
               timed && time.p50_interval.bounded()
                   ? fmt::format("[{}, {}]", micro(time.p50_interval.low), micro(time.p50_interval.high))
                   : "",
               report::cut_middle(report::printable(kind + layer.name), kNameWidth), kNameWidth,
               report::printable(fmt::format("{}", fmt::join(layer.nodes, " + "))));
  }
  if (!timed) return;
  const base::Summary engine = base::summarize(profile.engine_ms);
  const double sum = sum_of_medians(profile);
  fmt::print(
      "\nlayers together {} ms (sum of {} medians of {} runs), the engine without the profiler {} ms: "
      "timing each layer makes it {} times as long\n",
      base::number_text(sum), profile.layers.size(),
      profile.layers.empty() ? 0 : profile.layers.front().times_ms.size(), base::number_text(engine.p50),
      base::factor_text(engine.p50 > 0 ? sum / engine.p50 : 0));
}

Json interval_json(const base::Summary& time) {
  if (!time.p50_interval.bounded()) return nullptr;
  return {time.p50_interval.low, time.p50_interval.high};
}

Json layers_json(const Inspected& inspected, const std::string& model) {
  const backend::LayerProfile& profile = inspected.profile;
  const std::vector<backend::StepInfo> steps = backend::tensorrt::layers_of(profile.description);
  Json layers = Json::array();
  for (size_t i = 0; i < profile.layers.size(); ++i) {
    const backend::LayerTime& layer = profile.layers[i];
    const base::Summary time = base::summarize(layer.times_ms);
    Json row = {{"name", layer.name}, {"nodes", layer.nodes}};
    if (i < steps.size()) {
      row["kind"] = steps[i].kind;
      row["tactic"] = steps[i].tactic;
      row["inputs"] = steps[i].inputs;
      row["outputs"] = steps[i].outputs;
    }
    if (time.n > 0) {
      row["n"] = time.n;
      row["median_ms"] = time.p50;
      row["mean_ms"] = time.mean;
      row["sd_ms"] = time.sd;
      row["interval_ms"] = interval_json(time);
    }
    layers.push_back(std::move(row));
  }
  Json json = {{"model", model},
               {"version", inspected.version},
               {"notes", inspected.notes},
               {"layers", std::move(layers)}};
  if (!profile.engine_ms.empty()) {
    json["sum_of_medians_ms"] = sum_of_medians(profile);
    json["engine_ms"] = base::summarize(profile.engine_ms).p50;
  }
  return json;
}

std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_files(const std::string& folder, const Inspected& inspected, const std::string& model) {
  if (folder.empty()) return;
  const OutputFolder made(folder);
  const std::filesystem::path path(folder);
  base::write_file_atomic(path / "trt_engine_info.json", inspected.profile.description);
  base::write_file_atomic(path / "trt_layer_latency.json",
                          json_text(backend::tensorrt::latency_json(inspected.profile)));
  base::write_file_atomic(path / "hone_layers.json", json_text(layers_json(inspected, model)));
}

}  // namespace

void add_layer_options(CLI::App& command, LayerOptions& options) {
  command.add_option("--backend", options.backend,
                     "Show the layers and times of this system's engine: tensorrt (default for .plan files)");
  options.given = {
      command.add_option("--layer-files", options.files,
                         "Write trt_layer_latency.json, trt_engine_info.json and hone_layers.json of another "
                         "system's engine to this folder, for hone diff"),
      command.add_option("--batch", options.batch, "Batch size for timing the layers of another system")
          ->check(CLI::Range(int64_t{1}, int64_t{65536}))
          ->capture_default_str(),
      command.add_option("--runs", options.runs, "Number of runs for timing the layers of another system")
          ->check(CLI::Range(1, kMostRuns))
          ->capture_default_str(),
      command.add_flag("--trust", options.trust,
                       "Load a .plan file that hone did not write; it holds code, which then runs"),
      add_shapes_option(command, options.shapes)};
  add_tensorrt_options(command, options.settings);
}

bool shows_layers(const LayerOptions& options, const std::string& model) {
  if (is_plan(model) && options.backend.empty()) return true;
  if (!options.backend.empty()) return options.backend != backend::kOwnBackend;
  refuse_given(options.given, "is for another system's engine: add --backend tensorrt");
  return false;
}

void inspect_layers(const LayerOptions& options, const std::string& model, const std::string& precision,
                    const std::string& device, bool json) {
  if (is_plan(model) && !std::filesystem::exists(model)) fail_bad_input("{} does not exist", model);
  if (options.trust && !is_plan(model)) fail_usage("--trust is for a .plan file, {} is none", model);
  backend::parse_run_precision(precision);
  bench::Setup setup;
  setup.model = model;
  setup.backend = options.backend.empty() ? kTensorrt : options.backend;
  setup.precision = precision;
  setup.batch = options.batch;
  // TensorRT runs only on a GPU.
  setup.device = setup.backend == kTensorrt && setup.on_cpu() && device == setup.device ? "cuda" : device;
  const Inspected inspected = ask_worker(options, setup);
  write_files(options.files, inspected, model);
  json ? fmt::print("{}", json_text(layers_json(inspected, model))) : print_text(inspected, model);
}

}  // namespace hone::cli
