// See program_recorder.hpp.
#include "record/program_recorder.hpp"

#include <optional>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "record/gpu_log.hpp"
#include "system/foreground.hpp"
#include "system/scratch.hpp"
#include "trace/collect/metric_values.hpp"

namespace hone::record {
namespace {

std::string joined(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

Recording record_program(const std::vector<std::string>& command, const trace::InjectionOptions& options) {
  // Checked before starting, because `env` is the program that is actually started.
  if (const std::string reason = system::why_not_startable(command[0]); !reason.empty())
    fail_environment("{} cannot be started: {}", command[0], reason);
  const system::Scratch scratch;
  std::vector<std::string> injected = trace::injected_command(command, scratch.folder(), options);
  if (options.threads_api) injected.insert(injected.begin() + 1, trace::preload_variable());
  Recording recording;
  const bool measures = !options.metrics.empty();
  std::optional<GpuLog> gpu_log;
  if (!measures)
    gpu_log.emplace();  // without a timeline, there are no devices to which its figures could belong
  const system::ForegroundEnd end = system::run_in_foreground(injected);
  recording.exit_code = end.exit_code;
  recording.passed_on = end.passed_on;
  recording.processes = trace::process_count(trace::injected_files(scratch.folder()));
  recording.trace = trace::read_injected(scratch.folder());
  if (measures) {
    trace::finish_metrics(recording.trace, options.metrics);
  } else {
    gpu_log->add_to(recording.trace);
  }
  if (recording.processes > 0) trace::note_capture(options.capture, recording.trace);
  recording.trace.metadata["command"] = joined(command);
  recording.trace.metadata["exit_code"] = std::to_string(recording.exit_code);
  recording.trace.metadata["recorded_at"] = base::utc_date();
  return recording;
}

}  // namespace hone::record
