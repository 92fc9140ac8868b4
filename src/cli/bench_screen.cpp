// See bench_screen.hpp. The table goes to standard output, progress to standard error.
#include "cli/bench_screen.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "cli/terminal.hpp"

namespace hone::cli {
namespace {

/// Without a terminal, one line of progress in this time.
constexpr double kPlainLineSeconds = 15;
constexpr size_t kDefaultWidth = 100;

}  // namespace

BenchScreen::BenchScreen(const bench::SweepOptions& options)
    // Files and pipes take any width.
    : table_(options, terminal_columns(STDOUT_FILENO).value_or(static_cast<size_t>(-1))),
      terminal_(::isatty(STDERR_FILENO) == 1),
      last_plain_line_(base::Clock::now()) {
  if (terminal_) width_ = terminal_columns(STDERR_FILENO).value_or(kDefaultWidth + 1) - 1;
}

void BenchScreen::progress(const base::Progress& progress) {
  if (terminal_) {
    fmt::print(stderr, "\r\033[K{}", base::progress_line(progress, width_));
    std::fflush(stderr);
    progress_shown_ = true;
    return;
  }
  if (base::seconds_since(last_plain_line_) < kPlainLineSeconds) return;
  last_plain_line_ = base::Clock::now();
  fmt::print(stderr, "{}\n", base::progress_line(progress, kDefaultWidth));
}

void BenchScreen::clear() {
  if (!progress_shown_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  progress_shown_ = false;
}

void BenchScreen::line(const std::string& text) {
  clear();
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

void BenchScreen::group(std::span<const bench::Run> runs) {
  if (!header_shown_ && !table_.left_out().empty())
    line(fmt::format("(left out for want of width: {}; the file has them)",
                     fmt::join(table_.left_out(), ", ")));
  if (!header_shown_) line(table_.header());
  header_shown_ = true;
  for (const bench::Run& run : runs) line(table_.row(run));
}

}  // namespace hone::cli
