// See recorder.hpp.
#include "trace/collect/recorder.hpp"

#include <optional>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "bench/foreground.hpp"
#include "bench/scratch.hpp"
#include "trace/collect/gpu_log.hpp"
#include "trace/collect/metric_values.hpp"

namespace hone::trace {
namespace {

std::string joined(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

Recording record(const std::vector<std::string>& command, const InjectionOptions& options) {
  // Asked before `env` is, which would be the one that was started.
  if (const std::string reason = bench::why_not_startable(command[0]); !reason.empty())
    fail_environment("{} cannot be started: {}", command[0], reason);
  const bench::Scratch scratch;
  std::vector<std::string> injected = injected_command(command, scratch.folder(), options);
  if (options.threads_api) injected.insert(injected.begin() + 1, preload_variable());
  Recording recording;
  const bool measures = !options.metrics.empty();
  std::optional<GpuLog> gpu_log;
  if (!measures) gpu_log.emplace();  // there will be no devices that its figures could belong to
  const bench::ForegroundEnd end = bench::run_in_foreground(injected);
  recording.exit_code = end.exit_code;
  recording.passed_on = end.passed_on;
  recording.processes = process_count(injected_files(scratch.folder()));
  recording.trace = read_injected(scratch.folder());
  if (measures) {
    finish_metrics(recording.trace, options.metrics);
  } else {
    gpu_log->add_to(recording.trace);
  }
  if (recording.processes > 0) note_capture(options.capture, recording.trace);
  recording.trace.metadata["command"] = joined(command);
  recording.trace.metadata["exit_code"] = std::to_string(recording.exit_code);
  recording.trace.metadata["recorded_at"] = base::utc_date();
  return recording;
}

}  // namespace hone::trace
