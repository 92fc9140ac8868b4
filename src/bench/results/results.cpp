// See results.hpp.
#include "bench/results/results.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "base/file.hpp"
#include "base/read_described.hpp"
#include "base/statistics.hpp"
#include "bench/results/result_file.hpp"
#include "bench/results/run_schema.hpp"
#include "bench/worker/protocol.hpp"

namespace hone::bench {
namespace {

/// What is read of a run in a file.
struct KeptRun {
  Setup setup;
  std::optional<int> session;
  base::Rounds rounds;
  std::optional<std::string> failure;
};

}  // namespace
}  // namespace hone::bench

namespace hone::base {

template <>
struct Description<bench::KeptRun> {
  using Run = bench::KeptRun;
  static constexpr std::string_view kName = "KeptRun";
  static constexpr auto kFields =
      std::tuple_cat(extended(&Run::setup),
                     std::tuple{Field{"session", &Run::session, "Runs with the same number took turns"},
                                Field{"samples_ms", &Run::rounds, "Every latency, a list for each round",
                                      unit::kMs, origin::kMeasured},
                                Field{"failure", &Run::failure, "Why there are no figures"}});
};

}  // namespace hone::base

namespace hone::bench {
namespace {

Run parse_run(const Json& json, const std::string& path) {
  auto kept = base::read_described<KeptRun>(json, path);
  for (const auto& round : kept.rounds) {
    for (const double sample : round) {
      if (!(sample > 0)) fail_bad_input("the field {}.samples_ms holds {}", path, sample);
    }
  }
  Run run;
  run.setup = std::move(kept.setup);
  run.session = kept.session;
  run.rounds = std::move(kept.rounds);
  run.failure = std::move(kept.failure);
  return run;
}

/// Without what a shell, a terminal or a file system would make something else of.
std::string safe_name(std::string name) {
  const bool only_dots = name.find_first_not_of('.') == std::string::npos;
  for (char& c : name) {
    const bool safe = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
    if (!safe && (c != '.' || only_dots)) c = '_';
  }
  return name;
}

/// A model's name with as much of its path as is asked for.
struct LongName {
  std::vector<std::string> folders;  ///< the outermost first
  std::string file;
  std::string stem;
  size_t shown = 0;  ///< folders
  std::string text = {};

  explicit LongName(const std::string& model) : stem(file_stem(model)) {
    const std::filesystem::path path = std::filesystem::path(model).lexically_normal();
    file = safe_name(path.filename().string());
    for (const std::filesystem::path& part : path.relative_path().parent_path())
      folders.push_back(safe_name(part.string()));
    text = stem;
  }
  void show(const std::string& name) {
    text = name;
    for (size_t i = 1; i <= shown; ++i) text.insert(0, folders[folders.size() - i] + "/");
  }
  void lengthen() {
    shown = std::min(shown + 1, folders.size());
    show(stem);
  }
};

/// Those whose text another one has, too.
std::vector<LongName*> alike(std::vector<LongName>& names) {
  std::map<std::string, std::vector<LongName*>> groups;
  for (LongName& name : names) groups[name.text].push_back(&name);
  std::vector<LongName*> result;
  for (const auto& [text, group] : groups) {
    if (group.size() > 1) result.insert(result.end(), group.begin(), group.end());
  }
  return result;
}

}  // namespace

Json to_json(const Run& run) { return base::described_json(run); }

Json to_json(const Sweep& sweep) {
  Json runs = Json::array();
  for (const Run& run : sweep.runs) runs.push_back(to_json(run));
  return {{"schema", "hone.bench"},
          {"version", kSchemaVersion},
          {"complete", sweep.complete},
          {"context", sweep.context},
          {"options", sweep.options},
          {"definitions",
           {{"latency_ms",
             "synchronous: from the call with inputs in host memory to outputs in host memory, with every "
             "copy the backend makes; on another device than the CPU without includes_transfers: from the "
             "call until the outputs are computed, inputs and outputs in device memory"},
            {"throughput_per_s", "batch x runs / wall time of back-to-back runs, one in flight"},
            {"device_ms", "from the first to the last step, by events of the device; in runs of their own"},
            {"enqueue_ms", "host time to hand over a run; in runs of their own"},
            {"h2d_ms, d2h_ms", "copies from and to pinned host memory, by events of the device"},
            {"pipelined",
             "batch x runs / wall time of runs that overlap on `streams` streams, two in flight each (three "
             "of hone's with transfers)"},
            {"percentile", "nearest rank"},
            {"clock", "steady_clock"},
            {"mb", "1e6 bytes"}}},
          {"runs", std::move(runs)}};
}

void write_sweep(const Sweep& sweep, const std::filesystem::path& path) {
  base::write_file_atomic(path, to_json(sweep).dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

Sweep read_sweep(const std::filesystem::path& path) {
  const Json json = read_result_file(path);
  try {
    return parse_sweep(json);
  } catch (const Error& error) {
    throw error.within(path.string());
  }
}

Sweep parse_sweep(const Json& json) {
  check_result(json);
  Sweep sweep;
  sweep.complete = member<bool>(json, "complete");
  sweep.context = member<Json>(json, "context");
  const Json& runs = json["runs"];
  for (size_t i = 0; i < runs.size(); ++i)
    sweep.runs.push_back(parse_run(runs[i], fmt::format("runs[{}]", i)));
  return sweep;
}

std::string file_stem(const std::string& model) {
  std::string stem = std::filesystem::path(model).stem().string();
  if (stem.find_first_not_of('.') == std::string::npos) return "model";
  return safe_name(std::move(stem));
}

std::vector<std::string> distinct_names(const std::vector<std::string>& models) {
  std::vector<LongName> names(models.begin(), models.end());
  size_t deepest = 0;
  for (const LongName& name : names) deepest = std::max(deepest, name.folders.size());
  for (size_t i = 0; i < deepest; ++i) {
    for (LongName* name : alike(names)) name->lengthen();
  }
  for (LongName* name : alike(names)) name->show(name->file);
  int number = 1;
  for (LongName* name : alike(names)) name->text += fmt::format("-{}", number++);
  std::vector<std::string> result;
  for (const LongName& name : names) result.push_back(name.text);
  return result;
}

bool same_model(const std::string& a, const std::string& b) {
  const std::filesystem::path first(a), second(b);
  std::error_code missing;
  return first.lexically_normal() == second.lexically_normal() ||
         std::filesystem::equivalent(first, second, missing);
}

std::vector<std::filesystem::path> write_small_results(const Sweep& sweep,
                                                       const std::vector<std::string>& models,
                                                       const std::filesystem::path& folder) {
  const std::vector<std::string> names = distinct_names(models);
  std::map<std::filesystem::path, Json> files;
  for (const Run& run : sweep.runs) {
    if (!run.measured()) continue;
    const Setup& setup = run.setup;
    const auto model = std::find(models.begin(), models.end(), setup.model) - models.begin();
    Json& file = files[folder / names.at(static_cast<size_t>(model)) / (file_stem(setup.backend) + ".json")];
    if (file.is_null()) {
      file = {{"model", setup.model}, {"backend", setup.backend}, {"results", Json::array()}};
    }
    file["results"].push_back(
        {{"precision", setup.precision},
         {"batch", setup.batch},
         {"latency_ms", base::described_json(times_figure(base::all_samples(run.rounds)))},
         {"throughput_per_s", run.throughput()},
         {"valid", run.verdict.valid}});
  }
  std::vector<std::filesystem::path> written;
  for (const auto& [path, json] : files) {
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error)
      fail_environment("cannot create the folder {}: {}", path.parent_path().string(), error.message());
    base::write_file_atomic(path, json.dump(1) + "\n");
    written.push_back(path);
  }
  return written;
}

}  // namespace hone::bench
