// The data of the page: results of benchmarks, profiles of traces, comparisons of profiles, partitions,
// pipelines. The schema is hone.report; document_schema.hpp describes its fields, and web/src/schema.ts is
// generated from it.
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
  /// Absent in the lists of `hone view`, which sends analyses one by one. The timeline's binary data are not
  /// part of the JSON.
  std::optional<base::JsonOf<Answers>> analysis = std::nullopt;
  std::optional<Timeline> timeline = std::nullopt;
  bool ready = true;  ///< false until `hone view` has read the trace
};

struct ReportDiff {
  std::string a;  ///< ids of the two profiles; the slower one is `a`
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
  bool live = false;      ///< true for `hone view`, where files may appear and disappear
  std::vector<ReportSweep> sweeps;
  std::vector<ReportProfile> profiles;
  std::vector<ReportDiff> diffs;
  size_t diffs_left_out = 0;  ///< number of pairs beyond the limit for a page
  std::vector<ReportPartition> partitions;
  std::vector<ReportPipeline> pipelines;
  std::vector<ReportProblem> problems;
};

/// The part of a profile that comparisons need after the trace was released.
struct DiffCandidate {
  std::string id;
  std::string subject;  ///< model and batch; empty if the trace does not contain them
  std::string backend;
  analysis::DiffSide side;
};

DiffCandidate diff_candidate(const std::string& id, const trace::Trace& trace);
/// Computes the comparisons between all profiles of the same subject, those with hone first; at most sixteen.
void compare_profiles(std::span<const DiffCandidate> candidates, Report* report);

/// Makes a profile without a timeline.
ReportProfile make_profile(const std::string& id, const Answers& answers);

/// "0.1.0 (a1b2c3d)".
std::string program_text();

/// Reads and analyses all files. A file that cannot be read becomes a problem in the report.
Report make_report(const RunFiles& files);

/// Reads the sweep in a result file, and checks all fields that the page needs. Bad input names the file.
ReportSweep read_report_sweep(const std::string& id, const std::filesystem::path& path);

/// Reads the file of a partition.
ReportPartition read_report_partition(const std::string& id, const std::filesystem::path& path);

/// Reads a file of one or several pipelines. If there are several, their ids end with the backend.
std::vector<ReportPipeline> read_report_pipelines(const std::string& id, const std::filesystem::path& path);

/// Returns the pipeline whose stages a trace contains, or nothing. Bad input if it is damaged.
std::vector<ReportPipeline> pipelines_of(const ReportProfile& profile);

}  // namespace hone::report
