// See trace_argument.hpp.
#include "cli/trace_argument.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/error.hpp"
#include "engine/engine_file.hpp"
#include "import/zoo/zoo.hpp"
#include "report/run_files.hpp"
#include "trace/open.hpp"

namespace hone::cli {
namespace {

enum class Kind { kTrace, kEngine, kModel, kBuiltIn, kResult, kPartition, kPipeline };

bool is_built_in(const std::string& name) {
  const std::vector<std::string> names = importer::architecture_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Decides by the beginning of the file, or by its extension if it is not a file of hone; returns kTrace if
/// it may be a trace.
Kind kind_of(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::exists(path, unknown)) return is_built_in(path) ? Kind::kBuiltIn : Kind::kTrace;
  if (!std::filesystem::is_regular_file(path, unknown)) return Kind::kTrace;
  if (engine::is_engine_file(path)) return Kind::kEngine;
  const std::string extension = std::filesystem::path(path).extension().string();
  for (const std::string_view known : {".onnx", ".pt", ".pth", ".cfg", ".weights", ".safetensors"}) {
    if (extension == known) return Kind::kModel;
  }
  switch (report::find_run_files({path}).files.front().kind) {
    case report::RunFileKind::kSweep: return Kind::kResult;
    case report::RunFileKind::kPartition: return Kind::kPartition;
    case report::RunFileKind::kPipeline: return Kind::kPipeline;
    case report::RunFileKind::kTrace: break;
  }
  return Kind::kTrace;
}

bool is_runnable(Kind kind) {
  return kind == Kind::kEngine || kind == Kind::kModel || kind == Kind::kBuiltIn;
}

bool is_empty(const trace::Trace& trace) {
  return trace.host_events.empty() && trace.device_events.empty() && trace.kernel_metrics.empty() &&
         trace.model_steps.empty() && trace.counter_samples.empty() && trace.allocations.empty();
}

}  // namespace

trace::Trace open_given_trace(const std::string& path) {
  switch (kind_of(path)) {
    case Kind::kTrace: break;
    case Kind::kEngine:
      fail_bad_input(
          "{0} is an engine, not a trace: hone profile {0} records one, hone inspect {0} lists its steps",
          path);
    case Kind::kModel: fail_bad_input("{0} is a model, not a trace: hone profile {0} records one", path);
    case Kind::kBuiltIn: fail_usage("{0} is a model, not a trace: hone profile {0} records one", path);
    case Kind::kResult:
      fail_bad_input(
          "{0} is a result of hone bench, not a trace: hone report {0} shows it, and hone profile MODEL "
          "records a trace",
          path);
    case Kind::kPartition:
      fail_bad_input("{0} is a partition, not a trace: hone bench MODEL --partition {0} measures it", path);
    case Kind::kPipeline:
      fail_bad_input(
          "{0} holds the figures of hone detect, not a trace: hone report {0} shows them, and hone profile "
          "detect records a trace",
          path);
  }
  trace::Trace trace = trace::open_trace(path);
  if (is_empty(trace))
    fail_bad_input(
        "{}: the trace holds no events; record it again, with work between the profiler's start and its end",
        path);
  return trace;
}

void refuse_other_comparisons(const std::string& a, const std::string& b) {
  const Kind kind_a = kind_of(a);
  const Kind kind_b = kind_of(b);
  if (is_runnable(kind_a) && is_runnable(kind_b))
    fail_usage(
        "{0} and {1} are no traces: hone diff --accuracy {0} {1} --input FILE compares their values, and "
        "hone profile records a trace of each to compare their times",
        a, b);
  if (kind_a == Kind::kResult && kind_b == Kind::kResult)
    fail_usage(
        "{0} and {1} are results of hone bench, not traces: hone report {0} {1} shows them side by side, "
        "and hone bench MODEL --baseline {0} measures against one",
        a, b);
}

}  // namespace hone::cli
