// Maps values to places along an axis.
#pragma once

#include <string>
#include <vector>

#include "report/plot/figure.hpp"

namespace hone::report {

/// Values that an axis has to show.
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
  /// Linear scales begin at 0 (or below, for values below) unless ticks are given; all have some room around
  /// the data. `from` and `to` are places in pixels, `apart` how far ticks stay from each other at least.
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
