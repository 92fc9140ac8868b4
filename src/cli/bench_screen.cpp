// See bench_screen.hpp. The table goes to standard output, progress to standard error.
#include "cli/bench_screen.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdio>
#include <set>

#include "cli/terminal.hpp"

namespace hone::cli {
namespace {

/// Without a terminal, one line of progress in this time.
constexpr double kPlainLineSeconds = 15;

}  // namespace

BenchScreen::BenchScreen(const bench::SweepOptions& options, bool csv)
    // Files and pipes take any width.
    : table_(options, terminal_columns(STDOUT_FILENO).value_or(static_cast<size_t>(-1))),
      progress_(kPlainLineSeconds),
      csv_(csv) {}

void BenchScreen::plan(const bench::Sweep& planned, double seconds) {
  std::set<int64_t> batches;
  for (const bench::Run& run : planned.runs) batches.insert(run.setup.batch);
  // A table in a narrow terminal does not repeat the only model.
  std::set<std::string> models;
  for (const bench::Run& run : planned.runs) models.insert(run.setup.model);
  line(fmt::format("measuring {}{} configuration{} at batch {}: about {}",
                   models.size() == 1 ? *models.begin() + " in " : "", planned.runs.size(),
                   planned.runs.size() == 1 ? "" : "s", fmt::join(batches, ", "),
                   base::duration_text(seconds)));
}

void BenchScreen::line(const std::string& text) {
  clear();
  std::FILE* const stream = csv_ ? stderr : stdout;
  fmt::print(stream, "{}\n", text);
  std::fflush(stream);
}

void BenchScreen::group(std::span<const bench::Run> runs) {
  if (csv_) return;
  if (!header_shown_ && !table_.left_out().empty())
    line(fmt::format("(left out for want of width: {}; the file has them)",
                     fmt::join(table_.left_out(), ", ")));
  if (!header_shown_) line(table_.header());
  header_shown_ = true;
  for (const bench::Run& run : runs) line(table_.row(run));
}

}  // namespace hone::cli
