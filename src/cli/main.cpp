// The program: parses the command line, runs one command, and turns an exception into one sentence and an
// exit code.
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "cli/command.hpp"
#include "cli/help_text.hpp"
#include "cli/option_checks.hpp"
#include "cli/option_names.hpp"
#include "cli/usage_sentence.hpp"
#include "device/devices.hpp"
#include "report/terminal/sheet.hpp"
#include "system/brief_waits.hpp"
#include "system/interruption.hpp"
#include "system/memory.hpp"

namespace {

/// In the order of --help: commands on models, on results and traces, on images; lists; all others.
constexpr hone::cli::AddCommand kCommands[] = {
    hone::cli::add_bench_command,     hone::cli::add_build_command,      hone::cli::add_run_command,
    hone::cli::add_inspect_command,   hone::cli::add_quantize_command,   hone::cli::add_export_command,
    hone::cli::add_partition_command, hone::cli::add_profile_command,    hone::cli::add_analyze_command,
    hone::cli::add_diff_command,      hone::cli::add_report_command,     hone::cli::add_view_command,
    hone::cli::add_plot_command,      hone::cli::add_convert_command,    hone::cli::add_detect_command,
    hone::cli::add_classify_command,  hone::cli::add_backends_command,   hone::cli::add_devices_command,
    hone::cli::add_ops_command,       hone::cli::add_passes_command,     hone::cli::add_cache_command,
    hone::cli::add_help_command,      hone::cli::add_completion_command, hone::cli::add_conformance_command,
    hone::cli::add_worker_command,
};

/// fmt::print would throw if standard error is closed. The sentence is escaped because it may quote a file.
int report(int code, const std::string& sentence) {
  std::fputs(fmt::format("hone: {}\n", hone::report::printable(sentence)).c_str(), stderr);
  return code;
}

/// An unknown word is reported first: it is the real mistake, even if something else is missing too.
int report_usage(const CLI::App& program, const CLI::ParseError& error) {
  const std::vector<std::string> unknown = program.remaining(true);
  const auto chosen = program.get_subcommands();
  const std::string sentence =
      unknown.empty()
          ? hone::cli::usage_sentence(error, chosen.empty() ? program : *chosen.front())
          : hone::cli::unknown_word(program, chosen.empty() ? nullptr : chosen.front(), unknown.front());
  const std::string command = chosen.empty() ? "hone" : "hone " + chosen.front()->get_name();
  return report(static_cast<int>(hone::ErrorKind::kUsage),
                fmt::format("{} ({} --help explains)", sentence, command));
}

int report_environment(const std::string& sentence) {
  return report(static_cast<int>(hone::ErrorKind::kEnvironment), sentence);
}

/// Ends the process by the signal, so that the caller's shell sees it.
int die_of(int signal) {
  std::fflush(stdout);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  constexpr int kSignalBase = 128;
  return kSignalBase + signal;
}

/// `error` is 0 if only the stream remembers that a write failed. If the reader closed the pipe, it has read
/// enough, so there is no message, even if the caller ignores SIGPIPE.
int report_lost_output(int error) {
  if (error == EPIPE) return die_of(SIGPIPE);
  return report_environment(std::string("cannot write to the standard output") +
                            (error == 0 ? "" : std::string(": ") + std::strerror(error)));
}

/// Reports an error of the operating system that is no bug of hone: a full disk, a folder without permission,
/// too many threads.
int report_refusal(const std::system_error& error) {
  if (std::ferror(stdout) != 0) return report_lost_output(error.code().value());
  const auto* of_file = dynamic_cast<const std::filesystem::filesystem_error*>(&error);
  return report_environment(of_file == nullptr ? error.what()
                                               : of_file->path1().string() + ": " + error.code().message());
}

/// Flushes the buffer: an answer that could not be written must not exit with 0.
int finish_output() {
  errno = 0;
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0 ? 0 : report_lost_output(errno);
}

/// std::cout would lose the reason why a write failed.
int print_help(const CLI::App& program, const CLI::ParseError& asked) {
  std::ostringstream text;
  program.exit(asked, text, text);
  return std::fputs(text.str().c_str(), stdout) >= 0 ? 0 : report_lost_output(errno);
}

int run_command(CLI::App& program, int argc, char** argv) {
  try {
    // Adding commands may throw, because their help quotes the manifests of plugins, which may be damaged.
    for (const auto add : kCommands) add(program);
    hone::cli::check_values(program);
    hone::cli::arrange_help(program);
    std::vector<std::string> words =
        hone::cli::with_known_names(program, std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
    // CLI11 takes the words in reverse order.
    std::reverse(words.begin(), words.end());
    program.parse(std::move(words));
    return 0;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return print_help(program, error);
    return report_usage(program, error);
  } catch (const hone::Error& error) {
    return report(error.exit_code(), error.what());
  } catch (const hone::cli::ProgramFailed& failed) {
    return report(failed.exit_code, failed.sentence);
  } catch (const hone::system::Interrupted&) {
    return die_of(hone::system::interrupting_signal());
  } catch (const std::bad_alloc&) {
    return report_environment("out of memory");
  } catch (const std::system_error& error) {
    return report_refusal(error);
  } catch (const std::exception& error) {
    return report(static_cast<int>(hone::ErrorKind::kInternal), error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  hone::system::wait_briefly(argv);
  // A write beyond the file size limit must fail like a write to a full disk. SIG_IGN is not used, because
  // child processes would inherit it.
  std::signal(SIGXFSZ, [](int) {});
  hone::cli::take_profiled_command(&argc, argv);
  hone::device::own_process();
  CLI::App program(
      "Compiles trained neural networks into inference engines, benchmarks them against other systems, and "
      "profiles both.",
      "hone");
  program.require_subcommand(1);
  program.set_version_flag("--version", HONE_VERSION);
  // Checks the variable HONE_MEMORY_LIMIT_MB early, so that a wrong value is not reported as an error of the
  // model that is being read.
  program.parse_complete_callback([] { hone::system::memory_limit(); });
  const int code = run_command(program, argc, argv);
  // Lost output also matters after a missed threshold, because the output says which threshold was missed.
  if (code != 0 && code != static_cast<int>(hone::ErrorKind::kThreshold)) return code;
  const int lost = finish_output();
  return lost == 0 ? code : lost;
}
