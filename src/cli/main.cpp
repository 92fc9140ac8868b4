// The program: parses the command line, runs one command, turns errors into one sentence and an exit code.
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

/// In the order of --help: what one does with a model, with results and traces, with images; lists; the rest.
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

/// Not through fmt::print, which throws where nothing can be written. Quoted text may come from a file.
int report(int code, const std::string& sentence) {
  std::fputs(fmt::format("hone: {}\n", hone::report::printable(sentence)).c_str(), stderr);
  return code;
}

/// A word that nothing knows is the real mistake, whatever is missing besides.
int report_usage(const CLI::App& program, const CLI::ParseError& error) {
  const std::vector<std::string> unknown = program.remaining(true);
  const auto chosen = program.get_subcommands();
  const std::string sentence =
      unknown.empty()
          ? hone::cli::usage_sentence(error)
          : hone::cli::unknown_word(program, chosen.empty() ? nullptr : chosen.front(), unknown.front());
  const std::string command = chosen.empty() ? "hone" : "hone " + chosen.front()->get_name();
  return report(static_cast<int>(hone::ErrorKind::kUsage),
                fmt::format("{} ({} --help explains)", sentence, command));
}

int report_environment(const std::string& sentence) {
  return report(static_cast<int>(hone::ErrorKind::kEnvironment), sentence);
}

/// Dies of the signal, so that the caller's shell sees it.
int die_of(int signal) {
  std::fflush(stdout);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  constexpr int kSignalBase = 128;
  return kSignalBase + signal;
}

/// `error` is 0 when only the stream remembers that there was one. Who closes a pipe has read enough and
/// hears nothing more, whether or not the caller ignores SIGPIPE.
int report_lost_output(int error) {
  if (error == EPIPE) return die_of(SIGPIPE);
  return report_environment(std::string("cannot write to the standard output") +
                            (error == 0 ? "" : std::string(": ") + std::strerror(error)));
}

/// A refusal of the system, which is no bug of ours: a full disk, a folder that
/// may not be searched, no more threads.
int report_refusal(const std::system_error& error) {
  if (std::ferror(stdout) != 0) return report_lost_output(error.code().value());
  const auto* of_file = dynamic_cast<const std::filesystem::filesystem_error*>(&error);
  return report_environment(of_file == nullptr ? error.what()
                                               : of_file->path1().string() + ": " + error.code().message());
}

/// Output may still wait in the buffer, and an answer that got lost is no success.
int finish_output() {
  errno = 0;
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0 ? 0 : report_lost_output(errno);
}

/// Not through std::cout, which forgets why it could not write.
int print_help(const CLI::App& program, const CLI::ParseError& asked) {
  std::ostringstream text;
  program.exit(asked, text, text);
  return std::fputs(text.str().c_str(), stdout) >= 0 ? 0 : report_lost_output(errno);
}

int run_command(CLI::App& program, int argc, char** argv) {
  try {
    // Their help quotes the manifests of plugins, which may be damaged.
    for (const auto add : kCommands) add(program);
    hone::cli::check_values(program);
    hone::cli::arrange_help(program);
    std::vector<std::string> words =
        hone::cli::with_known_names(program, std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
    // CLI11 takes them from the end.
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
  // A write beyond the limit on the size of files shall fail, as one to a full disk does. Not SIG_IGN, which
  // programs that are started would inherit.
  std::signal(SIGXFSZ, [](int) {});
  hone::cli::take_profiled_command(&argc, argv);
  hone::device::own_process();
  CLI::App program(
      "Compiles trained neural networks into inference engines, benchmarks them against other systems, and "
      "profiles both.",
      "hone");
  program.require_subcommand(1);
  program.set_version_flag("--version", HONE_VERSION);
  // Where it is wrong, the variable is to blame, and no model that is being read when it is first asked for.
  program.parse_complete_callback([] { hone::system::memory_limit(); });
  const int code = run_command(program, argc, argv);
  // Lost output matters for a missed threshold, too: it says which one was missed.
  if (code != 0 && code != static_cast<int>(hone::ErrorKind::kThreshold)) return code;
  const int lost = finish_output();
  return lost == 0 ? code : lost;
}
