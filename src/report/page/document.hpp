// The data of the page: results of benchmarks, profiles of traces, comparisons of profiles, partitions,
// pipelines. Schema hone.report; its fields are described in document_schema.hpp, and from there in
// web/src/schema.ts.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/questions/trace_diff.hpp"
#include "base/described.hpp"
#include "base/partition_record.hpp"
#include "bench/results/run_record.hpp"
#include "report/answers_schema.hpp"
#include "report/ids.hpp"
#include "report/page/timeline.hpp"
#include "report/run_files.hpp"
#include "report/run_pairs.hpp"
#include "task/pipeline_report.hpp"

namespace hone::report {

struct ReportSweep {
  std::string id;
  std::string path;
  base::JsonOf<bench::SweepRecord> sweep;
  std::vector<RunPair> pairs = {};
};

struct ReportProfile {
  std::string id;
  std::string name;
  std::string path;
  base::Named<std::string> metadata;
  /// Absent from lists of `hone view`, which gives them one by one. The timeline's blob is not part of the
  /// JSON.
  std::optional<base::JsonOf<Answers>> analysis = std::nullopt;
  std::optional<Timeline> timeline = std::nullopt;
  bool ready = true;  ///< false while `hone view` has yet to read the trace
};

struct ReportDiff {
  std::string a;  ///< ids of profiles; the slower one first
  std::string b;
  base::JsonOf<analysis::TraceDiff> diff;
};

struct ReportPartition {
  std::string id;
  std::string path;
  base::JsonOf<base::PartitionRecord> partition;
};

/// A pipeline, from a file of `hone detect --stats` or a trace of `hone profile detect`.
struct ReportPipeline {
  std::string id;
  std::string path;
  task::PipelineReport pipeline;
};

struct ReportProblem {
  std::string path;
  std::string text;
};

struct Report {
  std::string generated;  ///< UTC, ISO 8601
  std::string hone;       ///< version and commit
  bool live = false;      ///< by `hone view`: files may come and go
  std::vector<ReportSweep> sweeps;
  std::vector<ReportProfile> profiles;
  std::vector<ReportDiff> diffs;
  size_t diffs_left_out = 0;  ///< pairs beyond the number that a page holds
  std::vector<ReportPartition> partitions;
  std::vector<ReportPipeline> pipelines;
  std::vector<ReportProblem> problems;
};

/// The part of a profile that comparisons with others need after its trace is gone.
struct DiffCandidate {
  std::string id;
  std::string subject;  ///< model and batch; empty where the trace does not name them
  std::string backend;
  analysis::DiffSide side;
};

DiffCandidate diff_candidate(const std::string& id, const trace::Trace& trace);
/// Sets the comparisons: those of one subject, each two, of hone with others first, sixteen at most.
void compare_profiles(std::span<const DiffCandidate> candidates, Report* report);

/// A profile without a timeline.
ReportProfile make_profile(const std::string& id, const Answers& answers);

/// "0.1.0 (a1b2c3d)".
std::string program_text();

/// Reads and analyses all of them; a file that cannot be read becomes a problem.
Report make_report(const RunFiles& files);

/// The sweep of a result file, checked as far as the page relies on it. Bad input naming the file.
ReportSweep read_report_sweep(const std::string& id, const std::filesystem::path& path);

/// Reads the file of a partition.
ReportPartition read_report_partition(const std::string& id, const std::filesystem::path& path);

/// Reads the file of one pipeline, or of several, whose ids end in their backends.
std::vector<ReportPipeline> read_report_pipelines(const std::string& id, const std::filesystem::path& path);

/// The pipeline whose stages a trace holds; none where it holds none. Bad input where it is damaged.
std::vector<ReportPipeline> pipelines_of(const ReportProfile& profile);

}  // namespace hone::report
