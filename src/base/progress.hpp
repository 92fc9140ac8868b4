// Formats progress: durations, sizes, and the line that shows the progress of a long command.
#pragma once

#include <string>

namespace hone::base {

/// "12 s", "3 min 20 s", "1 h 05 min".
std::string duration_text(double seconds);

struct Progress {
  double done_seconds = 0;  ///< time spent so far
  double left_seconds = 0;  ///< estimate of the remaining time; infinite if it is unknown
  std::string doing;        ///< the current activity
};

/// " 42 %  1 min 20 s left  resnet50 torch fp32 batch 8", or "12 s so far  resnet50 …", cut to `width`
/// characters.
std::string progress_line(const Progress& progress, size_t width);

}  // namespace hone::base
