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

}  // namespace

BenchScreen::BenchScreen(const bench::SweepOptions& options)
    // Files and pipes take any width.
    : table_(options, terminal_columns(STDOUT_FILENO).value_or(static_cast<size_t>(-1))),
      progress_(kPlainLineSeconds) {}

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
