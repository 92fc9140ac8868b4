// See document.hpp.
#include "report/page/document.hpp"

#include <algorithm>
#include <functional>

#include "base/clock.hpp"
#include "base/partition_file.hpp"
#include "base/version.hpp"
#include "bench/results/result_file.hpp"
#include "report/page/document_schema.hpp"
#include "task/pipeline_file.hpp"
#include "trace/open.hpp"

namespace hone::report {
namespace {

constexpr size_t kMostDiffs = 16;

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
    report_.generated = base::utc_date();
    report_.hone = program_text();
    for (const std::string& sentence : files.sentences) report_.problems.push_back({"", sentence});
    for (const RunFile& file : files.files) {
      try {
        if (file.kind == RunFileKind::kSweep) {
          add_sweep(file.path);
        } else if (file.kind == RunFileKind::kPartition) {
          report_.partitions.push_back(read_report_partition(ids_.take(trace_stem(file.path)), file.path));
        } else if (file.kind == RunFileKind::kPipeline) {
          add_pipelines(read_report_pipelines(ids_.take(trace_stem(file.path)), file.path));
        } else {
          add_profile(file.path);
        }
      } catch (const Error& error) {
        report_.problems.push_back({file.path.string(), error.what()});
      }
    }
    compare_profiles(candidates_, &report_);
    return std::move(report_);
  }

 private:
  void add_sweep(const std::filesystem::path& path) {
    ReportSweep sweep = read_report_sweep("", path);
    sweep.id = ids_.take(trace_stem(path));
    report_.sweeps.push_back(std::move(sweep));
  }

  void add_profile(const std::filesystem::path& path) {
    const Answers answers(path.string(), trace::open_trace(path), {});
    ReportProfile profile = make_profile(ids_.take(trace_stem(path)), answers);
    profile.timeline = TimelineSource(answers.trace(), answers.dependencies().path).window();
    candidates_.push_back(diff_candidate(profile.id, answers.trace()));
    report_.profiles.push_back(std::move(profile));
    add_pipelines(pipelines_of(report_.profiles.back()));
  }

  void add_pipelines(const std::vector<ReportPipeline>& pipelines) {
    report_.pipelines.insert(report_.pipelines.end(), pipelines.begin(), pipelines.end());
  }

  Report report_;
  Ids ids_;
  std::vector<DiffCandidate> candidates_;
};

ReportDiff make_diff(const DiffCandidate& one, const DiffCandidate& other) {
  const bool in_order = analysis::is_first(one.side, other.side);
  const DiffCandidate& a = in_order ? one : other;
  const DiffCandidate& b = in_order ? other : one;
  return {a.id, b.id, {analysis::to_json(analysis::compare_traces(a.side, b.side))}};
}

struct Pair {
  std::reference_wrapper<const DiffCandidate> one;
  std::reference_wrapper<const DiffCandidate> other;

  bool has_hone_and_another() const {
    return (one.get().backend == "hone") != (other.get().backend == "hone");
  }
};

}  // namespace

DiffCandidate diff_candidate(const std::string& id, const trace::Trace& trace) {
  return {id, subject_of(trace), value(trace, "backend"),
          analysis::diff_side(trace, analysis::find_steps(trace))};
}

void compare_profiles(std::span<const DiffCandidate> candidates, Report* report) {
  std::vector<Pair> pairs;
  for (size_t i = 0; i < candidates.size(); ++i) {
    for (size_t j = i + 1; j < candidates.size(); ++j) {
      const std::string& subject = candidates[i].subject;
      if (!subject.empty() && subject == candidates[j].subject)
        pairs.push_back({candidates[i], candidates[j]});
    }
  }
  std::stable_partition(pairs.begin(), pairs.end(),
                        [](const Pair& pair) { return pair.has_hone_and_another(); });
  const size_t kept = std::min(pairs.size(), kMostDiffs);
  report->diffs.clear();
  for (const Pair& pair : std::span(pairs).first(kept))
    report->diffs.push_back(make_diff(pair.one, pair.other));
  report->diffs_left_out = pairs.size() - kept;
}

ReportProfile make_profile(const std::string& id, const Answers& answers) {
  const trace::Trace& trace = answers.trace();
  ReportProfile profile{id, name_of(trace, answers.path()), answers.path(), {}};
  for (const auto& [key, text] : trace.metadata) profile.metadata.emplace_back(key, text);
  profile.analysis = base::JsonOf<Answers>{to_json(answers)};
  return profile;
}

std::string program_text() { return fmt::format("{} ({})", base::version(), base::commit()); }

ReportSweep read_report_sweep(const std::string& id, const std::filesystem::path& path) {
  Json json = bench::read_result_file(path);
  std::vector<RunPair> pairs = compare_pairs(json);
  return {id, path.string(), {std::move(json)}, std::move(pairs)};
}

ReportPartition read_report_partition(const std::string& id, const std::filesystem::path& path) {
  return {id, path.string(), {base::described_json(base::read_partition(path))}};
}

std::vector<ReportPipeline> read_report_pipelines(const std::string& id, const std::filesystem::path& path) {
  const std::vector<task::PipelineReport> reports = task::read_pipelines(path);
  std::vector<ReportPipeline> pipelines;
  for (const task::PipelineReport& report : reports)
    pipelines.push_back({reports.size() == 1 ? id : id + "-" + report.backend, path.string(), report});
  return pipelines;
}

std::vector<ReportPipeline> pipelines_of(const ReportProfile& profile) {
  for (const auto& [key, text] : profile.metadata) {
    if (key != task::kPipelineEntry) continue;
    const auto reports = task::parse_pipelines(text);
    if (!reports.empty()) return {{profile.id, profile.path, reports.front()}};
  }
  return {};
}

Report make_report(const RunFiles& files) { return Maker().make(files); }

}  // namespace hone::report
