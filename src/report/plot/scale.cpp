// See scale.hpp.
#include "report/plot/scale.hpp"

#include <algorithm>
#include <cmath>

#include "report/plot/ticks.hpp"

namespace hone::report {

void Extent::add(double value) {
  low_ = any_ ? std::min(low_, value) : value;
  high_ = any_ ? std::max(high_, value) : value;
  any_ = true;
}

void Extent::add(const std::optional<double>& value) {
  if (value) add(*value);
}

Scale::Scale(const Axis& axis, const Extent& extent, double from, double to, double apart)
    : log_(axis.log), low_(extent.low()), high_(extent.high()), from_(from), to_(to) {
  const auto most = static_cast<size_t>(std::max(3.0, std::abs(to - from) / apart));
  // If ticks are given, all values are at ticks, which need more distance from the ends of the axis.
  const double room = axis.ticks.empty() ? 0.04 : 0.08;
  if (log_) {
    const double factor = std::pow(std::max(high_ / low_, 2.0), room);
    low_ /= factor;
    high_ *= factor;
    ticks_ = axis.ticks.empty() ? log_ticks(low_, high_, most) : axis.ticks;
    return;
  }
  if (axis.ticks.empty()) low_ = std::min(low_, 0.0);
  const double length = high_ > low_ ? high_ - low_ : 1;
  high_ = std::max(high_, low_ + length) + room * length;
  if (low_ < 0 || !axis.ticks.empty()) low_ -= room * length;
  ticks_ = axis.ticks.empty() ? linear_ticks(low_, high_, most) : axis.ticks;
}

double Scale::position(double value) const { return log_ ? std::log(value) : value; }

double Scale::place(double value) const {
  const double share = (position(value) - position(low_)) / (position(high_) - position(low_));
  return from_ + share * (to_ - from_);
}

}  // namespace hone::report
