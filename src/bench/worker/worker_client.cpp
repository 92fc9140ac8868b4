// See worker_client.hpp.
#include "bench/worker/worker_client.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace hone::bench {
namespace {

/// Libraries may print to standard output, so up to this many lines that are no answers are skipped.
constexpr int kMaxNoiseLines = 1000;

ErrorKind parse_kind(const Json& answer) {
  const Json kind = answer.value("kind", Json());
  if (kind == "usage") return ErrorKind::kUsage;
  if (kind == "bad input") return ErrorKind::kBadInput;
  if (kind == "environment") return ErrorKind::kEnvironment;
  return ErrorKind::kInternal;
}

/// Null if the line is not a JSON object.
Json parse_answer(const std::string& line) {
  Json answer = Json::parse(line, nullptr, false);
  return answer.is_object() && answer.contains("type") ? answer : Json();
}

/// Accepts a number from 0 to 1, null, or a missing member.
std::optional<double> share_or_none(const Json& answer, const char* name) {
  if (!answer.contains(name) || answer.at(name).is_null()) return std::nullopt;
  const auto share = member<double>(answer, name);
  if (!(share >= 0 && share <= 1)) fail_bad_input("the field '{}' is {}, no share from 0 to 1", name, share);
  return share;
}

}  // namespace

WorkerClient::WorkerClient(const std::vector<std::string>& command, const std::filesystem::path& error_file,
                           double timeout_s, const system::StopFlag* stop)
    : process_(command, error_file, stop), timeout_s_(timeout_s) {}

void WorkerClient::fail_ended(const char* type) {
  const std::string end = process_.describe_end();
  const std::string last = process_.last_error_line();
  throw Error(process_.crashed() ? ErrorKind::kInternal : ErrorKind::kEnvironment,
              fmt::format("the worker {} during '{}'{}{}", end, type, last.empty() ? "" : ": ", last));
}

Json WorkerClient::ask(const char* type, const Json& request, const OnProgress& on_progress) {
  const int64_t id = next_id_++;
  Json line = {{"id", id}, {"type", type}};
  line.update(request);
  const auto deadline = base::Clock::now() + std::chrono::duration_cast<base::Clock::duration>(
                                                 std::chrono::duration<double>(timeout_s_));
  // A worker that has ended may have sent an explanation before, so its answer is read even if the request
  // could not be sent.
  process_.send_line(line_of(line));
  std::string text;
  for (int noise = 0; noise < kMaxNoiseLines; ++noise) {
    switch (process_.read_line(&text, deadline)) {
      case system::Process::ReadResult::kEnd: fail_ended(type);
      case system::Process::ReadResult::kTimeout:
        fail_environment("the worker gave no answer to '{}' within {} s and was ended", type, timeout_s_);
      case system::Process::ReadResult::kLine: break;
    }
    const Json answer = parse_answer(text);
    if (answer.is_null()) continue;
    const std::string kind = member<std::string>(answer, "type");
    if (kind == kProgress) {
      // Skips late answers to an earlier request.
      if (answer.value("id", Json()) != id) continue;
      if (on_progress) on_progress(parse_progress(answer));
      --noise;
      continue;
    }
    if (kind == "error") throw Error(parse_kind(answer), member<std::string>(answer, "message"));
    if (kind == type && answer.value("id", Json()) == id) return answer;
    fail_environment("the worker answered '{}' to request {} ('{}')", kind, id, type);
  }
  fail_environment("the worker wrote {} lines that are no answer to '{}'", kMaxNoiseLines, type);
}

template <class Read>
auto WorkerClient::ask_for(const char* type, const Json& request, const Read& read,
                           const OnProgress& on_progress) {
  const Json answer = ask(type, request, on_progress);
  try {
    return read(answer);
  } catch (const Error& error) {
    throw error.within(fmt::format("the worker's answer to '{}'", type));
  }
}

WorkerHello WorkerClient::hello(const std::string& backend) {
  const Json request = {{"protocol", kProtocolVersion}, {"backend", backend}};
  return ask_for("hello", request, [](const Json& answer) -> WorkerHello {
    const int protocol = member<int>(answer, "protocol");
    if (protocol != kProtocolVersion)
      fail_environment("it speaks protocol {}, not {}", protocol, kProtocolVersion);
    return {member<std::string>(answer, "backend"), member<std::string>(answer, "version")};
  });
}

WorkerLoaded WorkerClient::load(const LoadRequest& request, const OnProgress& on_progress) {
  const auto read = [](const Json& answer) -> WorkerLoaded {
    return {member<std::vector<std::string>>(answer, "notes"),
            member<double>(answer, "load_ms"),
            member_or(answer, "features", std::vector<std::string>()),
            member_or(answer, "bus_id", std::string()),
            member_or(answer, "predicted_ms", 0.0),
            member_or(answer, "version", std::string()),
            member_or(answer, "tuned", false),
            share_or_none(answer, "int8_share")};
  };
  return ask_for("load", to_json(request), read, on_progress);
}

bool WorkerLoaded::has(std::string_view feature) const {
  return std::find(features.begin(), features.end(), feature) != features.end();
}

Block WorkerClient::run(Purpose purpose, int64_t runs, double seconds) {
  const char* type = purpose == Purpose::kWarmup ? "warmup" : "sample";
  return ask_for(type, {{"runs", runs}, {"seconds", seconds}}, parse_block);
}

PhaseBlock WorkerClient::phases(double seconds) {
  return ask_for(kPhasesFeature, {{"seconds", seconds}}, parse_phase_block);
}

PipelineBlock WorkerClient::pipeline(double seconds) {
  return ask_for(kPipelineFeature, {{"seconds", seconds}}, parse_pipeline_block);
}

TracedRuns WorkerClient::trace(int64_t runs, const TraceOptions& options) {
  const Json request = {{"runs", runs},
                        {"record_shapes", options.observe.shapes},
                        {"profile_memory", options.observe.memory},
                        {"record_device", options.observe.device},
                        {"await_steps", options.observe.awaited_steps},
                        {"thread_counters", options.thread_counters}};
  return ask_for(kTraceFeature, request, [runs](const Json& answer) {
    TracedRuns traced = parse_traced_runs(answer);
    if (static_cast<int64_t>(traced.runs.size()) != runs)
      fail_bad_input("the field 'runs' holds {} runs, not {}", traced.runs.size(), runs);
    return traced;
  });
}

backend::LayerProfile WorkerClient::layers(int runs) {
  return ask_for(kLayersFeature, {{"runs", runs}}, parse_layer_profile);
}

std::vector<std::vector<OutputFile>> WorkerClient::accuracy(std::span<const size_t> sets,
                                                            const std::filesystem::path& folder) {
  const Json request = {{"sets", std::vector<size_t>(sets.begin(), sets.end())}, {"folder", folder.string()}};
  return ask_for("accuracy", request, [&](const Json& answer) {
    std::vector<std::vector<OutputFile>> outputs;
    for (const Json& set : member<Json>(answer, "outputs")) {
      std::vector<OutputFile>& files = outputs.emplace_back();
      for (const Json& file : set) files.push_back(parse_output_file(file));
    }
    if (outputs.size() != sets.size()) fail_bad_input("the field 'outputs' holds {} sets", outputs.size());
    return outputs;
  });
}

backend::MemoryUse WorkerClient::memory() { return ask_for("memory", Json::object(), parse_memory_use); }

void WorkerClient::quit() {
  if (process_.send_line(Json{{"id", next_id_++}, {"type", "quit"}}.dump())) process_.describe_end();
  process_.kill_group();
}

}  // namespace hone::bench
