// What `hone bench` shows while it runs: on a terminal a line of progress below the growing table, elsewhere
// the table and plain lines.
#pragma once

#include <span>
#include <string>

#include "base/clock.hpp"
#include "base/progress.hpp"
#include "bench/sweep/sweep.hpp"
#include "report/terminal/bench_table.hpp"

namespace hone::cli {

class BenchScreen {
 public:
  explicit BenchScreen(const bench::SweepOptions& options);

  void progress(const base::Progress& progress);
  void group(std::span<const bench::Run> runs);
  /// Removes the line of progress.
  void clear();
  void line(const std::string& text);

 private:
  report::BenchTable table_;
  bool terminal_;
  size_t width_ = 0;
  bool header_shown_ = false;
  bool progress_shown_ = false;
  base::Clock::time_point last_plain_line_;
};

}  // namespace hone::cli
