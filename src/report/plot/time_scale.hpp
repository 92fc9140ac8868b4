// The unit for the times of a figure.
#pragma once

#include <string>

namespace hone::report {

struct TimeScale {
  std::string unit;
  double nanoseconds = 1;  ///< length of one unit

  double of(double time) const { return time / nanoseconds; }
};

/// The largest unit that is not longer than `longest`, ns.
inline TimeScale scale_for(double longest) {
  if (longest >= 1e9) return {"s", 1e9};
  if (longest >= 1e6) return {"ms", 1e6};
  if (longest >= 1e3) return {"us", 1e3};
  return {"ns", 1};
}

}  // namespace hone::report
