// See progress_display.hpp.
#include "cli/progress_display.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <limits>

#include "cli/terminal.hpp"
#include "report/terminal/sheet.hpp"

namespace hone::cli {
namespace {

/// The width that a terminal gets if its own is unknown.
constexpr size_t kDefaultWidth = 100;

}  // namespace

ProgressDisplay::ProgressDisplay(double plain_line_seconds)
    : plain_line_seconds_(plain_line_seconds),
      width_(std::numeric_limits<size_t>::max()),
      terminal_(::isatty(STDERR_FILENO) == 1),
      last_plain_line_(base::Clock::now()) {
  if (terminal_) width_ = terminal_columns(STDERR_FILENO).value_or(kDefaultWidth + 1) - 1;
}

void ProgressDisplay::show(const base::Progress& progress) {
  if (terminal_) {
    fmt::print(stderr, "\r\033[K{}", report::printable(base::progress_line(progress, width_)));
    std::fflush(stderr);
    shown_ = true;
    return;
  }
  if (base::seconds_since(last_plain_line_) < plain_line_seconds_) return;
  last_plain_line_ = base::Clock::now();
  fmt::print(stderr, "{}\n", report::printable(base::progress_line(progress, width_)));
}

void ProgressDisplay::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace hone::cli
