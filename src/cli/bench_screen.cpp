// See bench_screen.hpp. The table goes to standard output, progress to standard error.
#include "cli/bench_screen.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "bench/results/figures.hpp"
#include "cli/terminal.hpp"

namespace hone::cli {
namespace {

/// Seconds between lines of progress if the output is not a terminal.
constexpr double kPlainLineSeconds = 15;

}  // namespace

report::BenchForm form_of(const bench::SweepOptions& options) {
  return {options.models,      options.backends,   options.precisions,
          options.percentiles, options.compare_to, options.measure.setup};
}

BenchScreen::BenchScreen(const bench::SweepOptions& options, bool csv)
    // Only a terminal limits the width; files and pipes have no limit.
    : table_(form_of(options), terminal_columns(STDOUT_FILENO).value_or(static_cast<size_t>(-1))),
      progress_(kPlainLineSeconds),
      csv_(csv) {}

void BenchScreen::plan(const bench::Sweep& planned, double seconds) {
  std::set<int64_t> batches;
  for (const bench::Run& run : planned.runs) batches.insert(run.setup.batch);
  // In a narrow terminal, the table leaves out the column of the model if there is only one model.
  const auto& left_out = table_.left_out();
  const bool named = std::find(left_out.begin(), left_out.end(), "model") != left_out.end();
  line(fmt::format("measuring {}{} configuration{} at batch {}: about {}",
                   named && !planned.runs.empty() ? planned.runs.front().setup.model + " in " : "",
                   planned.runs.size(), planned.runs.size() == 1 ? "" : "s", fmt::join(batches, ", "),
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
    line(fmt::format("(this terminal is too narrow for: {}; the file has them)",
                     fmt::join(table_.left_out(), ", ")));
  if (!header_shown_) line(table_.header());
  header_shown_ = true;
  for (const bench::Run& run : runs) line(table_.row(bench::record_of(run)));
}

}  // namespace hone::cli
