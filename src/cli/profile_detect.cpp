// See profile_detect.hpp.
#include "cli/profile_detect.hpp"

#include <filesystem>

#include "cli/command.hpp"
#include "record/pipeline_trace.hpp"
#include "record/program_recorder.hpp"
#include "system/foreground.hpp"
#include "system/interruption.hpp"
#include "trace/store.hpp"

namespace hone::cli {
namespace {

/// Returns the value of the last `NAME VALUE` or `NAME=VALUE`; empty if there is none.
std::string value_of(const std::vector<std::string>& words, const std::string& name) {
  std::string value;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == name && i + 1 < words.size()) value = words[i + 1];
    if (words[i].starts_with(name + "=")) value = words[i].substr(name.size() + 1);
  }
  return value;
}

/// Runs the command with the collector loaded into it, and adds the recorded GPU work to the stages.
int record_with_gpu(const std::vector<std::string>& command, const std::string& trace) {
  record::Recording recording = record::record_program(command, {.driver_api = false});
  if (recording.exit_code != 0 || recording.processes == 0) return recording.exit_code;
  record::add_pipeline(trace::read_store(trace), &recording.trace);
  trace::write_store(recording.trace, trace);
  return 0;
}

}  // namespace

std::string trace_among(const std::vector<std::string>& words) { return value_of(words, "--trace"); }

void profile_detect(std::vector<std::string> words, const std::string& trace) {
  const std::string file = trace_among(words).empty() ? trace : trace_among(words);
  const bool on_gpu = value_of(words, "--device").starts_with("cuda");
  std::vector<std::string> command{std::filesystem::canonical("/proc/self/exe").string(), "detect"};
  command.insert(command.end(), words.begin(), words.end());
  if (trace_among(words).empty()) command.insert(command.end(), {"--trace", file});
  const system::Interruptible interruptible;
  const int code = on_gpu ? record_with_gpu(command, file) : system::run_in_foreground(command).exit_code;
  system::throw_if_interrupted();
  if (code != 0)
    throw ProgramFailed{code, "hone detect did not end well, and there may be no timeline of it"};
}

}  // namespace hone::cli
