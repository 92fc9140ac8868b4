// The line on standard error that says how far a long command is: redrawn on a terminal, a new one from time
// to time elsewhere.
#pragma once

#include "base/clock.hpp"
#include "base/progress.hpp"

namespace hone::cli {

class ProgressDisplay {
 public:
  /// Without a terminal, one line in `plain_line_seconds`.
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
