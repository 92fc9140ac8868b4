// See hone/engine.hpp: implements the public API.
#include "hone/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "api/context.hpp"
#include "api/one_user.hpp"
#include "api/sequence.hpp"
#include "api/views.hpp"
#include "backend/hone/build_request.hpp"
#include "device/devices.hpp"
#include "engine/engine_file.hpp"
#include "tensor/place.hpp"

namespace hone {
namespace {

TensorInfo info_of(const graph::Value& value) {
  TensorInfo info{value.name, static_cast<DataType>(value.type.dtype), {}};
  for (const graph::Dim& dim : value.type.dims.value_or(graph::Dims())) {
    info.dims.push_back(dim.known() ? dim.value() : -1);
  }
  return info;
}

std::vector<TensorInfo> infos_of(const graph::Graph& graph, const std::vector<graph::ValueId>& ids) {
  std::vector<TensorInfo> infos;
  for (const graph::ValueId id : ids) infos.push_back(info_of(graph.value(id)));
  return infos;
}

void log_build(const engine::Engine& engine, const std::function<void(LogLevel, const std::string&)>& log) {
  for (const auto& pass : engine.passes) {
    if (pass.changes > 0)
      log(LogLevel::kNote,
          fmt::format("pass {}: {} change{}", pass.name, pass.changes, pass.changes == 1 ? "" : "s"));
    for (const std::string& note : pass.notes)
      log(LogLevel::kNote, fmt::format("pass {}: {}", pass.name, note));
  }
  log(LogLevel::kNote,
      fmt::format("built {} for {} in {:.2f} s", engine.model, engine.fingerprint(), engine.build_seconds));
  for (const char* key : {backend::kQuantizationNote, backend::kOwnQuantizationNote}) {
    if (const auto note = engine.metadata.find(key); note != engine.metadata.end())
      log(LogLevel::kNote, note->second);
  }
  if (!engine.not_timed.empty()) log(LogLevel::kWarning, "no tactic was timed: " + engine.not_timed);
  if (!engine.cut_short.empty())
    log(LogLevel::kWarning,
        fmt::format("the time for the search was over: {}; budget_seconds gives it more", engine.cut_short));
}

}  // namespace

struct Engine::State {
  State(std::shared_ptr<engine::Engine> made, const engine::Device& device, int threads)
      : engine(std::move(made)),
        device(device),
        loaded(std::make_shared<engine::LoadedEngine>(engine, device, threads)),
        context(loaded),
        inputs(infos_of(*engine->graph, engine->graph->inputs)),
        outputs(infos_of(*engine->graph, engine->graph->outputs)) {}

  /// With `threads` 0, it uses the number for which the engine was tuned. Runs at `place`, else on the first
  /// device of its kind.
  static std::unique_ptr<State> of(std::shared_ptr<engine::Engine> made, int threads,
                                   std::optional<tensor::Place> place) {
    const engine::Device& device = device::device_of_fingerprint(made->fingerprint(), place);
    const int used = threads > 0 ? threads : made->threads;
    return std::make_unique<State>(std::move(made), device, used);
  }

  std::shared_ptr<engine::Engine> engine;
  const engine::Device& device;
  std::shared_ptr<engine::LoadedEngine> loaded;
  engine::Context context;
  api::OneUser user;
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
};

Engine::Engine(std::unique_ptr<State> state) : state_(std::move(state)) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

Engine Engine::build(const std::string& name, const BuildOptions& options) {
  const std::vector<tensor::Precision> precisions = backend::parse_precisions(options.precision);
  backend::BuildRequest request{.model = name,
                                .parameters = {.weights = options.weights, .seed = options.seed},
                                .device = options.device,
                                .portable = options.portable,
                                .precision = precisions.front(),
                                .other_precisions = {precisions.begin() + 1, precisions.end()},
                                .threads = options.threads,
                                .optimization_level = options.optimization_level,
                                .disabled_passes = options.disabled_passes,
                                .cache = {.used = options.timing_cache.used,
                                          .file = options.timing_cache.file,
                                          .only = options.timing_cache.only},
                                .budget_seconds = options.budget_seconds};
  request.bind = options.bind;
  for (const auto& [input, range] : options.shapes) request.shapes[input] = {range.min, range.opt, range.max};
  if (options.progress)
    request.progress = [&options](const base::Progress& progress) {
      options.progress({progress.done_seconds, progress.left_seconds, progress.doing});
    };
  const backend::ResolvedBuild build = backend::resolve(request);
  auto engine = backend::build(build);
  if (options.log) log_build(*engine, options.log);
  return Engine(std::make_unique<State>(std::move(engine), build.device, build.options.threads));
}

Engine Engine::load(const std::filesystem::path& file, int threads, const std::string& device_name) {
  backend::check_threads(threads);
  std::optional<tensor::Place> place;
  if (!device_name.empty()) place = tensor::parse_place(device_name);
  auto engine = engine::load_engine(file);
  try {
    return Engine(State::of(std::move(engine), threads, place));
  } catch (const Error& error) {
    throw error.within(file.string());
  }
}

Engine Engine::load_bytes(std::span<const std::byte> bytes, int threads, const std::string& device_name) {
  backend::check_threads(threads);
  std::optional<tensor::Place> place;
  if (!device_name.empty()) place = tensor::parse_place(device_name);
  // Aligned like a mapped file.
  const auto copy = std::make_shared<tensor::Tensor>(tensor::DType::kUInt8,
                                                     tensor::Shape{static_cast<int64_t>(bytes.size())});
  std::copy(bytes.begin(), bytes.end(), copy->mutable_bytes());
  return Engine(State::of(engine::read_engine({copy->bytes(), copy->byte_size()}, copy), threads, place));
}

void Engine::save(const std::filesystem::path& file) const {
  engine::save_engine(*state_->engine, state_->device, file);
}

const std::vector<TensorInfo>& Engine::inputs() const { return state_->inputs; }
const std::vector<TensorInfo>& Engine::outputs() const { return state_->outputs; }

std::vector<Tensor> Engine::run(const std::vector<TensorView>& inputs) {
  const auto use = state_->user.use("engine");
  std::vector<tensor::Tensor> views;
  for (const TensorView& input : inputs) views.push_back(api::inner_tensor(input));
  std::vector<Tensor> results;
  for (tensor::Tensor& output : state_->context.run(views))
    results.push_back(api::outer_tensor(std::move(output)));
  return results;
}

std::map<std::string, Tensor> Engine::run_by_name(const std::map<std::string, TensorView>& inputs) {
  std::vector<TensorView> ordered;
  for (const TensorInfo& info : state_->inputs) {
    const auto found = inputs.find(info.name);
    if (found == inputs.end()) fail_usage("input '{}' has no tensor", info.name);
    ordered.push_back(found->second);
  }
  for (const auto& [name, view] : inputs) {
    const auto has_name = [&name = name](const TensorInfo& info) { return info.name == name; };
    if (std::none_of(state_->inputs.begin(), state_->inputs.end(), has_name))
      fail_usage("'{}' is no input of the engine", name);
  }
  std::vector<Tensor> results = run(ordered);
  std::map<std::string, Tensor> named;
  for (size_t i = 0; i < results.size(); ++i) named.emplace(state_->outputs[i].name, std::move(results[i]));
  return named;
}

Context Engine::make_context() const { return Context(std::make_unique<Context::State>(state_->loaded)); }

Sequence Engine::make_sequence(const std::vector<std::string>& bind) const {
  return Sequence(std::make_unique<Sequence::State>(state_->loaded, state_->inputs, state_->outputs, bind));
}

Place Engine::place() const { return api::outer_place(state_->device.place()); }

}  // namespace hone
