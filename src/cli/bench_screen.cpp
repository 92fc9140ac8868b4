// See bench_screen.hpp. The table goes to standard output, progress to standard error.
#include "cli/bench_screen.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

namespace hone::cli {
namespace {

/// Without a terminal, one line of progress in this time.
constexpr double kPlainLineSeconds = 15;
constexpr size_t kDefaultWidth = 100;

size_t terminal_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kDefaultWidth;
  return size.ws_col - size_t{1};
}

/// Files and pipes take any width.
size_t table_width() {
  winsize size{};
  const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  return terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0
             ? size.ws_col
             : static_cast<size_t>(-1);
}

}  // namespace

BenchScreen::BenchScreen(const bench::SweepOptions& options)
    : table_(options, table_width()),
      terminal_(::isatty(STDERR_FILENO) == 1),
      last_plain_line_(base::Clock::now()) {
  if (terminal_) width_ = terminal_width();
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
