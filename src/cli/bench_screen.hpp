// Output of `hone bench` while it runs: on a terminal a line of progress below the growing table, elsewhere
// the table and plain lines.
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
  /// `csv`: standard output holds only CSV; sentences for people go to standard error, without the table.
  BenchScreen(const bench::SweepOptions& options, bool csv);

  /// Before anything runs: how much is measured, and how long that takes at least.
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
