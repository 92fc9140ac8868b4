// `hone profile -- COMMAND`: records what a program does on the GPU.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/file.hpp"
#include "cli/command.hpp"
#include "trace/collect/recorder.hpp"
#include "trace/store.hpp"

namespace hone::cli {
namespace {

struct Options {
  std::vector<std::string> command;
  std::string output;
  bool no_driver_api = false;
};

/// "python3.trace.sqlite", or the first free one of "python3-2.trace.sqlite" and so on.
std::string default_output(const std::string& program) {
  const std::string stem = std::filesystem::path(program).filename().string();
  for (int number = 1;; ++number) {
    const std::string name =
        fmt::format("{}{}.trace.sqlite", stem, number == 1 ? "" : fmt::format("-{}", number));
    if (!std::filesystem::exists(name)) return name;
  }
}

int64_t count(const trace::Trace& trace, trace::DeviceKind kind) {
  return std::count_if(trace.device_events.begin(), trace.device_events.end(),
                       [kind](const trace::DeviceEvent& event) { return event.kind == kind; });
}

/// To standard error: standard output is the program's.
void print_summary(const trace::Recording& recording, const std::string& output) {
  const trace::Trace& trace = recording.trace;
  fmt::print(stderr, "hone: {} kernels, {} copies, {} sets, {} calls and ranges of {} process{} in {}\n",
             count(trace, trace::DeviceKind::kKernel), count(trace, trace::DeviceKind::kCopy),
             count(trace, trace::DeviceKind::kSet), trace.host_events.size(), recording.processes,
             recording.processes == 1 ? "" : "es", output);
  for (const trace::Doubt& doubt : trace.doubts)
    fmt::print(stderr, "hone: {}: {}{}\n", doubt.about,
               doubt.count > 0 ? fmt::format("{} ", doubt.count) : "", doubt.text);
}

void run(const Options& options) {
  const std::string output = options.output.empty() ? default_output(options.command[0]) : options.output;
  base::check_writable(output);
  trace::Recording recording = trace::record(options.command, {.driver_api = !options.no_driver_api});
  if (recording.processes == 0)
    recording.trace.doubt(trace::Severity::kLoss, "collector",
                          "no process of this command initialised CUDA or NVTX, so nothing was recorded", 0);
  trace::write_store(recording.trace, output);
  print_summary(recording, output);
  if (recording.exit_code != 0)
    fail_environment("the program ended with exit code {}; what it did until then is in {}",
                     recording.exit_code, output);
}

}  // namespace

void add_profile_command(CLI::App& program) {
  CLI::App* command = program.add_subcommand("profile", "Record what a program does on the GPU");
  const auto options = std::make_shared<Options>();
  command->add_option("command", options->command, "The program and its arguments, after --")->required();
  command->add_option("-o,--output", options->output, "The trace (default: PROGRAM.trace.sqlite)");
  command->add_flag("--no-driver-api", options->no_driver_api,
                    "Leave out the calls of the driver API: a smaller trace and less overhead");
  command->positionals_at_end();
  command->callback([options] { run(*options); });
}

}  // namespace hone::cli
