// See progress.hpp.
#include "base/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace hone::base {

std::string duration_text(double seconds) {
  const auto whole = static_cast<int64_t>(std::llround(std::max(seconds, 0.0)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string progress_line(const Progress& progress, size_t width) {
  const double total = progress.done_seconds + progress.left_seconds;
  const double percent = total > 0 ? 100 * progress.done_seconds / total : 0;
  std::string line = std::isinf(progress.left_seconds)
                         ? fmt::format("{} so far  {}", duration_text(progress.done_seconds), progress.doing)
                         : fmt::format("{:3.0f} %  {} left  {}", percent,
                                       duration_text(progress.left_seconds), progress.doing);
  if (line.size() > width) line.resize(width);
  return line;
}

}  // namespace hone::base
