// Interface of a command. Each command has its own file and an entry in main.cpp. Only commands print; the
// library does not.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/error.hpp"

namespace hone::cli {

/// Adds a subcommand to the program. Its callback does the work and throws hone::Error on failure. If the
/// work succeeds but the exit code must not be 0 (a verdict that failed), the callback throws an Error of
/// kThreshold.
using AddCommand = void (*)(CLI::App& program);

/// The profiled program failed: the command exits with that program's exit code.
struct ProgramFailed {
  int exit_code;
  std::string sentence;
};

/// Calls f. If f throws a bad-input error that does not name the model's file, adds the file's name to it.
template <class F>
auto speaking_of(const std::string& model, F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kBadInput && !error.where().starts_with(model)) throw error.within(model);
    throw;
  }
}

void add_analyze_command(CLI::App& program);
void add_backends_command(CLI::App& program);
void add_build_command(CLI::App& program);
void add_cache_command(CLI::App& program);
void add_ops_command(CLI::App& program);
void add_conformance_command(CLI::App& program);
void add_inspect_command(CLI::App& program);
void add_run_command(CLI::App& program);
void add_bench_command(CLI::App& program);
void add_view_command(CLI::App& program);
void add_worker_command(CLI::App& program);
void add_partition_command(CLI::App& program);
void add_passes_command(CLI::App& program);
void add_export_command(CLI::App& program);
void add_convert_command(CLI::App& program);
void add_devices_command(CLI::App& program);
void add_detect_command(CLI::App& program);
void add_classify_command(CLI::App& program);
void add_diff_command(CLI::App& program);
void add_report_command(CLI::App& program);
void add_plot_command(CLI::App& program);
void add_quantize_command(CLI::App& program);
void add_help_command(CLI::App& program);
void add_completion_command(CLI::App& program);
void add_profile_command(CLI::App& program);
/// Removes the words after "--" of `hone profile` from the arguments and keeps them: they are a program with
/// its own options.
void take_profiled_command(int* argc, char** argv);

}  // namespace hone::cli
