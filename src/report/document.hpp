// What the page shows: results of benchmarks, profiles of traces, and comparisons of profiles. Schema
// hone.report; its fields are described in document_schema.hpp, and from there in web/src/schema.ts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/trace_diff.hpp"
#include "base/described.hpp"
#include "bench/results.hpp"
#include "report/answers_schema.hpp"
#include "report/run_files.hpp"
#include "report/timeline.hpp"

namespace hone::report {

struct ReportSweep {
  std::string id;
  std::string path;
  base::JsonOf<bench::Sweep> sweep;
};

struct ReportProfile {
  std::string id;
  std::string name;
  std::string path;
  base::Named<std::string> metadata;
  base::JsonOf<Answers> analysis;
  Timeline timeline;  ///< its blob is not part of the JSON
};

struct ReportDiff {
  std::string a;  ///< ids of profiles; the slower one first
  std::string b;
  base::JsonOf<analysis::TraceDiff> diff;
};

struct ReportProblem {
  std::string path;
  std::string text;
};

struct Report {
  std::string generated;  ///< UTC, ISO 8601
  std::string hone;       ///< version and commit
  std::vector<ReportSweep> sweeps;
  std::vector<ReportProfile> profiles;
  std::vector<ReportDiff> diffs;
  std::vector<ReportProblem> problems;
};

/// Reads and analyses all of them; a file that cannot be read becomes a problem. Of profiles of one model and
/// batch each two are compared, the first sixteen of them.
Report make_report(const RunFiles& files);

/// The sweep of a result file, checked as far as the page relies on it. Bad input naming the file.
base::JsonOf<bench::Sweep> read_sweep_json(const std::filesystem::path& path);

}  // namespace hone::report
