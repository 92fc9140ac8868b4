// Maps values to positions along an axis.
#pragma once

#include <string>
#include <vector>

#include "report/plot/figure.hpp"

namespace hone::report {

/// The range of values that an axis must show.
class Extent {
 public:
  void add(double value);
  void add(const std::optional<double>& value);
  double low() const { return low_; }
  double high() const { return high_; }

 private:
  bool any_ = false;
  double low_ = 0;
  double high_ = 0;
};

class Scale {
 public:
  /// Linear scales begin at 0 (or at the least value if that is negative) unless ticks are given; all scales
  /// leave some room around the data. `from` and `to` are positions in pixels, and `apart` is the least
  /// distance between ticks.
  Scale(const Axis& axis, const Extent& extent, double from, double to, double apart);

  double place(double value) const;
  const std::vector<double>& ticks() const { return ticks_; }

 private:
  double position(double value) const;

  bool log_;
  double low_;
  double high_;
  double from_;
  double to_;
  std::vector<double> ticks_;
};

}  // namespace hone::report
