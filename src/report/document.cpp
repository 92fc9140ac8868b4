// See document.hpp.
#include "report/document.hpp"

#include <fmt/chrono.h>

#include <algorithm>
#include <ctime>

#include "base/file.hpp"
#include "base/version.hpp"
#include "report/document_schema.hpp"
#include "trace/open.hpp"

namespace hone::report {
namespace {

constexpr size_t kMostDiffs = 16;

/// What comparisons need of a profile, after its trace is gone.
struct Side {
  std::string id;
  std::string subject;  ///< model and batch; empty where the trace does not tell
  analysis::DiffSide side;
};

/// Ids for links, each once.
class Ids {
 public:
  std::string take(const std::string& wanted) {
    std::string id = wanted;
    for (int n = 2; std::find(taken_.begin(), taken_.end(), id) != taken_.end(); ++n)
      id = fmt::format("{}-{}", wanted, n);
    taken_.push_back(id);
    return id;
  }

 private:
  std::vector<std::string> taken_;
};

std::string value(const trace::Trace& trace, const char* key) {
  const auto found = trace.metadata.find(key);
  return found == trace.metadata.end() ? std::string() : found->second;
}

std::string subject_of(const trace::Trace& trace) {
  const std::string model = value(trace, "model");
  return model.empty() ? std::string() : model + " batch " + value(trace, "batch");
}

std::string name_of(const trace::Trace& trace, const std::filesystem::path& path) {
  const std::string subject = subject_of(trace);
  if (subject.empty()) return trace_stem(path);
  return fmt::format("{} {} {} batch {}", value(trace, "model"), value(trace, "backend"),
                     value(trace, "precision"), value(trace, "batch"));
}

class Maker {
 public:
  Report make(const RunFiles& files) {
    report_.generated = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    report_.hone = fmt::format("{} ({})", base::version(), base::commit());
    for (const std::string& sentence : files.sentences) report_.problems.push_back({"", sentence});
    for (const RunFile& file : files.files) {
      try {
        if (file.kind == RunFileKind::kSweep) {
          add_sweep(file.path);
        } else {
          add_profile(file.path);
        }
      } catch (const Error& error) {
        report_.problems.push_back({file.path.string(), error.what()});
      }
    }
    compare();
    return std::move(report_);
  }

 private:
  void add_sweep(const std::filesystem::path& path) {
    base::JsonOf<bench::Sweep> sweep = read_sweep_json(path);
    report_.sweeps.push_back({ids_.take(trace_stem(path)), path.string(), std::move(sweep)});
  }

  void add_profile(const std::filesystem::path& path) {
    const Answers answers(path.string(), trace::open_trace(path), {});
    const trace::Trace& trace = answers.trace();
    ReportProfile profile{ids_.take(trace_stem(path)),
                          name_of(trace, path),
                          path.string(),
                          {},
                          {},
                          make_timeline(trace, answers.dependencies().path)};
    for (const auto& [key, text] : trace.metadata) profile.metadata.emplace_back(key, text);
    profile.analysis.json = to_json(answers);
    sides_.push_back({profile.id, subject_of(trace), analysis::diff_side(trace)});
    report_.profiles.push_back(std::move(profile));
  }

  void compare() {
    for (size_t i = 0; i < sides_.size(); ++i) {
      for (size_t j = i + 1; j < sides_.size(); ++j) {
        const bool same = !sides_[i].subject.empty() && sides_[i].subject == sides_[j].subject;
        if (same && report_.diffs.size() < kMostDiffs) add_diff(sides_[i], sides_[j]);
      }
    }
  }

  void add_diff(const Side& one, const Side& other) {
    const bool in_order = one.side.layers.host.mean >= other.side.layers.host.mean;
    const Side& a = in_order ? one : other;
    const Side& b = in_order ? other : one;
    report_.diffs.push_back({a.id, b.id, {analysis::to_json(analysis::compare_traces(a.side, b.side))}});
  }

  Report report_;
  Ids ids_;
  std::vector<Side> sides_;
};

/// Nothing that people measure nests deeper; writing the JSON recurses.
constexpr int kDeepestJson = 64;

Json parse_shallow(const std::string& text) {
  const auto shallow = [](int depth, Json::parse_event_t, Json&) {
    if (depth > kDeepestJson) fail_bad_input("lists and objects nest more than {} deep", kDeepestJson);
    return true;
  };
  return Json::parse(text, shallow, false);
}

}  // namespace

base::JsonOf<bench::Sweep> read_sweep_json(const std::filesystem::path& path) {
  constexpr uint64_t kLargestFile = uint64_t{256} << 20;
  try {
    Json json = parse_shallow(base::read_file(path, kLargestFile));
    if (json.is_discarded()) fail_bad_input("this is no JSON file");
    if (!json.is_object() || json.value("schema", Json()) != "hone.bench")
      fail_bad_input("the field 'schema' is not hone.bench");
    if (json.value("version", Json()) != bench::kSchemaVersion)
      fail_bad_input("the field 'version' is not {}", bench::kSchemaVersion);
    if (!json.value("runs", Json()).is_array()) fail_bad_input("the field 'runs' is not a list");
    return {std::move(json)};
  } catch (const Error& error) {
    if (error.where().starts_with(path.string())) throw;
    throw error.within(path.string());
  }
}

Report make_report(const RunFiles& files) { return Maker().make(files); }

}  // namespace hone::report
