// See worker_server.hpp.
#include "bench/worker/worker_server.hpp"

#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <system_error>

#include "backend/hone/hone_backend.hpp"
#include "backend/run_precision.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "bench/worker/inputs.hpp"
#include "bench/worker/subject.hpp"
#include "bench/worker/traced_runs.hpp"
#include "device/devices.hpp"
#include "tensor/place.hpp"
#include "tensor/saturate.hpp"

namespace hone::bench {
namespace {

using tensor::Tensor;

Json error_answer(const char* kind, const std::string& message) {
  return {{"type", "error"}, {"kind", kind}, {"message", message}};
}

const char* kind_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage: return "usage";
    case ErrorKind::kBadInput: return "bad input";
    case ErrorKind::kEnvironment: return "environment";
    default: return "internal";
  }
}

/// Adds a note with the number of inputs' values that exceed the range of the type in which an engine keeps
/// them.
void add_saturation_note(const std::vector<std::vector<Tensor>>& sets, tensor::Precision precision,
                         std::vector<std::string>& notes) {
  if (precision != tensor::Precision::kBf16 && precision != tensor::Precision::kFp16) return;
  const bool half = precision == tensor::Precision::kFp16;
  int64_t saturated = 0;
  for (const Tensor& input : sets.front())
    saturated += tensor::count_saturated(input, half ? tensor::DType::kFloat16 : tensor::DType::kBFloat16);
  if (saturated == 0) return;
  notes.push_back(fmt::format("{} of the first inputs' values beyond the range of {} are kept as its largest",
                              saturated, half ? "float16" : "bfloat16"));
}

}  // namespace

void WorkerServer::serve(const Read& read, const Write& write) {
  for (std::string line; read(&line);) {
    const Json request = Json::parse(line, nullptr, false);
    Json reply;
    std::string type;
    try {
      type = member<std::string>(request, "type");
      if (type == "quit") return;
      reply = answer(type, request, write);
    } catch (const Error& error) {
      reply = error_answer(kind_name(error.kind()), error.what());
    } catch (const std::bad_alloc&) {
      reply = error_answer("environment", "out of memory during '" + type + "'");
    } catch (const std::system_error& error) {
      reply = error_answer("environment", error.what());
    } catch (const std::exception& error) {
      reply = error_answer("internal", error.what());
    }
    if (!reply.contains("type")) reply["type"] = type;
    reply["id"] = request.is_object() ? request.value("id", Json(nullptr)) : Json(nullptr);
    write(reply.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
}

Json WorkerServer::answer(const std::string& type, const Json& request, const Write& write) {
  if (type == "hello") return hello(request);
  if (type == "load") return load(request, write);
  if (type == "warmup" || type == "sample") return run(request);
  if (type == kPhasesFeature) return phases(request);
  if (type == kPipelineFeature) return pipeline(request);
  if (type == kTraceFeature) return trace(request);
  if (type == kLayersFeature) return layers(request);
  if (type == "accuracy") return accuracy(request);
  if (type == "memory") return memory();
  fail_bad_input("unknown request '{}'", type);
}

Json WorkerServer::hello(const Json& request) {
  backend_ = make_backend_(member<std::string>(request, "backend"));
  return {
      {"protocol", kProtocolVersion}, {"backend", backend_->name()}, {"version", backend_->version("cpu")}};
}

namespace {

/// Sends the progress of a request, at a limited rate.
std::function<void(const base::Progress&)> progress_to(const WorkerServer::Write& write, const Json& id) {
  constexpr double kBetweenSeconds = 0.2;
  return [&write, id, last = base::Clock::time_point()](const base::Progress& progress) mutable {
    if (base::seconds_since(last) < kBetweenSeconds) return;
    last = base::Clock::now();
    Json message = to_json(progress);
    message["id"] = id;
    write(message.dump(-1, ' ', false, Json::error_handler_t::replace));
  };
}

}  // namespace

Json WorkerServer::load(const Json& json, const Write& write) {
  if (backend_ == nullptr) fail_bad_input("'load' before 'hello'");
  const LoadRequest request = parse_load_request(json);
  const Setup& setup = request.setup;
  backend::LoadOptions options;
  const backend::RunPrecision precision = backend::parse_run_precision(setup.precision);
  options.precision = precision.precision;
  options.beside_int8 = precision.beside_int8;
  options.threads = setup.threads;
  options.device = setup.device;
  transfers_ = setup.transfers || setup.on_cpu();
  for (const InputFile& input : request.inputs) options.input_shapes[input.name] = input.shape;
  options.only_these_shapes = true;
  options.bind = request.bind;
  options.context = request.context;
  sets_ = read_input_sets(request.inputs);
  if (setup.cold_l2 && setup.on_cpu()) fail_bad_input("the caches of the CPU cannot be emptied");
  options.profiles = request.profiles;
  options.settings = request.settings;
  options.progress = progress_to(write, json.value("id", Json(nullptr)));
  pipeline_.reset();
  const auto engine = load_engine_subject(setup.model);
  if (engine != nullptr && backend_->name() != backend::kOwnBackend)
    fail_bad_input("{} is an engine of hone, which the backend {} cannot run", setup.model, backend_->name());
  std::optional<importer::Model> model;
  if (engine == nullptr)
    model = backend_->reads(setup.model) ? importer::Model{.name = setup.model, .file = setup.model}
                                         : load_model_(setup.model);
  const auto start = base::Clock::now();
  executable_ =
      model ? backend_->load(*model, options)
            : backend::make_engine_executable(engine, setup.threads, tensor::parse_place(setup.device));
  const double load_ms = 1e3 * base::seconds_since(start);
  streams_ = setup.streams;
  Json features = Json::array({kTraceFeature});
  if (executable_->has_phases()) features.push_back(kPhasesFeature);
  if (executable_->times_device()) features.push_back(kDeviceTimesFeature);
  if (executable_->has_pipeline()) features.push_back(kPipelineFeature);
  if (executable_->has_layers()) features.push_back(kLayersFeature);
  if (setup.cold_l2) {
    cold_ = &device::find_device(setup.device);
    features.push_back(kColdL2Feature);
  }
  std::vector<std::string> notes = executable_->notes();
  if (backend_->name() == backend::kOwnBackend) {
    const bool int8 = options.precision == tensor::Precision::kInt8;
    add_saturation_note(sets_, int8 ? options.beside_int8 : options.precision, notes);
  }
  const std::optional<double> int8_share = executable_->int8_share();
  return {{"load_ms", load_ms},
          {"int8_share", int8_share ? Json(*int8_share) : Json(nullptr)},
          {"notes", std::move(notes)},
          {"features", std::move(features)},
          {"tuned", executable_->was_tuned()},
          {"bus_id", executable_->bus_id()},
          {"predicted_ms", executable_->predicted_ms().value_or(0)},
          {"version", backend_->version(setup.device)}};
}

backend::Executable& WorkerServer::executable() const {
  if (executable_ == nullptr) fail_bad_input("no model is loaded");
  return *executable_;
}

const std::vector<Tensor>& WorkerServer::next_inputs() {
  const std::vector<Tensor>& inputs = sets_[next_set_];
  next_set_ = (next_set_ + 1) % sets_.size();
  return inputs;
}

Json WorkerServer::run(const Json& request) {
  const auto runs = member<int64_t>(request, "runs");
  const auto seconds = member<double>(request, "seconds");
  backend::Executable& model = executable();
  Block block;
  const auto start = base::Clock::now();
  auto now = start;
  double evicting_ms = 0;
  do {
    const std::vector<Tensor>& inputs = next_inputs();
    if (!transfers_) model.upload(inputs);
    if (cold_ != nullptr) {
      const auto begin = base::Clock::now();
      cold_->evict_caches();
      evicting_ms += base::milliseconds_between(begin, base::Clock::now());
    }
    const auto before = base::Clock::now();
    if (transfers_) {
      model.run(inputs);
    } else {
      model.execute();
    }
    now = base::Clock::now();
    block.latencies_ms.push_back(base::milliseconds_between(before, now));
  } while (static_cast<int64_t>(block.latencies_ms.size()) < runs &&
           base::seconds_between(start, now) < seconds);
  block.wall_ms = base::milliseconds_between(start, base::Clock::now()) - evicting_ms;
  return to_json(block);
}

Json WorkerServer::phases(const Json& request) {
  const auto seconds = member<double>(request, "seconds");
  backend::Executable& model = executable();
  PhaseBlock block;
  const auto start = base::Clock::now();
  do {
    model.upload(next_inputs());
    const backend::RunPhases phases = model.time_phases(cold_ != nullptr);
    block.h2d_ms.push_back(phases.h2d_ms);
    block.enqueue_ms.push_back(phases.enqueue_ms);
    block.device_ms.push_back(phases.device_ms);
    block.d2h_ms.push_back(phases.d2h_ms);
  } while (base::seconds_since(start) < seconds);
  return to_json(block);
}

Json WorkerServer::trace(const Json& request) {
  const TraceOptions options{.observe = {.shapes = member_or(request, "record_shapes", false),
                                         .memory = member_or(request, "profile_memory", false),
                                         .device = member_or(request, "record_device", false),
                                         .awaited_steps = member_or(request, "await_steps", false)},
                             .thread_counters = member_or(request, "thread_counters", false)};
  return to_json(trace_runs(executable(), sets_, member<int64_t>(request, "runs"), transfers_, options));
}

Json WorkerServer::layers(const Json& request) {
  const int runs = member<int>(request, "runs");
  if (runs < 0) fail_bad_input("the field 'runs' holds {}", runs);
  // With 0 runs, the request only describes the engine, which needs no inputs.
  if (runs > 0) executable().upload(next_inputs());
  return to_json(executable().profile_layers(runs));
}

Json WorkerServer::pipeline(const Json& request) {
  const auto seconds = member<double>(request, "seconds");
  if (pipeline_ == nullptr) {
    pipeline_ = executable().make_pipeline(streams_, transfers_, sets_);
    if (pipeline_ == nullptr) fail_environment("the backend {} has no pipeline", backend_->name());
    // Runs every stream once, so that one-time initialization is not part of the measured time.
    for (int i = 0; i < streams_; ++i) pipeline_->submit();
    pipeline_->finish();
  }
  PipelineBlock block;
  const auto start = base::Clock::now();
  do {
    pipeline_->submit();
    ++block.runs;
  } while (base::seconds_since(start) < seconds);
  pipeline_->finish();
  block.wall_ms = 1e3 * base::seconds_since(start);
  return to_json(block);
}

Json WorkerServer::accuracy(const Json& request) {
  const auto sets = member<std::vector<size_t>>(request, "sets");
  const std::filesystem::path folder = member<std::string>(request, "folder");
  Json all = Json::array();
  for (const size_t set : sets) {
    if (set >= sets_.size()) fail_bad_input("there is no input set {}", set);
    const std::vector<Tensor> outputs = executable().run(sets_[set]);
    Json files = Json::array();
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::filesystem::path file = folder / fmt::format("output_{}_{}.bin", set, i);
      const Tensor& tensor = outputs[i];
      base::write_file_atomic(file, {reinterpret_cast<const char*>(tensor.bytes()), tensor.byte_size()});
      files.push_back(
          to_json(OutputFile{fmt::format("output_{}", i), tensor.dtype(), tensor.shape(), file.string()}));
    }
    all.push_back(std::move(files));
  }
  return {{"outputs", std::move(all)}};
}

Json WorkerServer::memory() const { return to_json(executable().memory()); }

}  // namespace hone::bench
