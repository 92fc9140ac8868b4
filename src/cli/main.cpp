// The program: parses the command line, runs one command, turns errors into one sentence and an exit code.
#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <new>

#include "base/error.hpp"
#include "cli/command.hpp"

namespace {

constexpr hone::cli::AddCommand kCommands[] = {
    hone::cli::add_build_command,  hone::cli::add_inspect_command,     hone::cli::add_backends_command,
    hone::cli::add_ops_command,    hone::cli::add_conformance_command, hone::cli::add_run_command,
    hone::cli::add_bench_command,  hone::cli::add_worker_command,      hone::cli::add_passes_command,
    hone::cli::add_export_command, hone::cli::add_profile_command,     hone::cli::add_analyze_command,
    hone::cli::add_diff_command,   hone::cli::add_report_command,      hone::cli::add_view_command,
    hone::cli::add_plot_command,   hone::cli::add_convert_command,
};

int report(int code, const char* sentence) {
  fmt::print(stderr, "hone: {}\n", sentence);
  return code;
}

/// A word that nothing knows is the real mistake, whatever is missing besides.
int report_usage(const CLI::App& program, const CLI::ParseError& error) {
  const std::vector<std::string> unknown = program.remaining(true);
  const std::string sentence =
      unknown.empty() ? error.what() : fmt::format("'{}' is no command or option here", unknown.front());
  const auto chosen = program.get_subcommands();
  const std::string command = chosen.empty() ? "hone" : "hone " + chosen.front()->get_name();
  fmt::print(stderr, "hone: {} ({} --help explains)\n", sentence, command);
  return static_cast<int>(hone::ErrorKind::kUsage);
}

}  // namespace

int main(int argc, char** argv) {
  hone::cli::take_profiled_command(&argc, argv);
  CLI::App program(
      "hone sharpens a trained network into an inference engine and shows where every microsecond goes.",
      "hone");
  program.require_subcommand(1);
  program.set_version_flag("--version", HONE_VERSION);
  for (const auto add : kCommands) add(program);
  try {
    program.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);
    return report_usage(program, error);
  } catch (const hone::Error& error) {
    return report(error.exit_code(), error.what());
  } catch (const std::bad_alloc&) {
    return report(static_cast<int>(hone::ErrorKind::kEnvironment), "out of memory");
  } catch (const std::exception& error) {
    return report(static_cast<int>(hone::ErrorKind::kInternal), error.what());
  }
}
