// Shows `hone bench` while it runs. A terminal gets a growing table with a line of progress below it; other
// outputs get the table and plain lines.
#pragma once

#include <span>
#include <string>

#include "bench/sweep/sweep.hpp"
#include "cli/progress_display.hpp"
#include "report/terminal/bench_table.hpp"

namespace hone::cli {

report::BenchForm form_of(const bench::SweepOptions& options);

class BenchScreen {
 public:
  /// With `csv`, standard output holds only CSV; notes go to standard error, and no table is printed.
  BenchScreen(const bench::SweepOptions& options, bool csv);

  /// Prints, before the first run, how many configurations will be measured and the least time that this
  /// takes.
  void plan(const bench::Sweep& planned, double seconds);

  void progress(const base::Progress& progress) { progress_.show(progress); }
  void group(std::span<const bench::Run> runs);
  /// Removes the line of progress.
  void clear() { progress_.clear(); }
  void line(const std::string& text);

 private:
  report::BenchTable table_;
  ProgressDisplay progress_;
  bool csv_;
  bool header_shown_ = false;
};

}  // namespace hone::cli
