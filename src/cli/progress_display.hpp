// The line on standard error that shows the progress of a long command. A terminal redraws it, cut to its
// width; other outputs get a new, whole line from time to time.
#pragma once

#include "base/clock.hpp"
#include "base/progress.hpp"

namespace hone::cli {

class ProgressDisplay {
 public:
  /// If standard error is not a terminal, prints one line every `plain_line_seconds`.
  explicit ProgressDisplay(double plain_line_seconds);
  ~ProgressDisplay() { clear(); }
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  void show(const base::Progress& progress);
  /// Removes the line from a terminal.
  void clear();

 private:
  double plain_line_seconds_;
  size_t width_;
  bool terminal_;
  bool shown_ = false;
  base::Clock::time_point last_plain_line_;
};

}  // namespace hone::cli
