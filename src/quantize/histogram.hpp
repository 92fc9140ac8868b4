// How often a tensor takes which values, counted in one pass over data of unknown range.
//
// Bins have a power of two as their width. When a value is out of range, the width doubles and neighbours are
// merged, so the counts depend only on the values that were seen and not on their order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hone::quantize {

class Histogram {
 public:
  /// Bins of one sign. At least half of them lie below the largest magnitude.
  static constexpr int kBins = 4096;

  Histogram();
  /// The counts of a file. Bad input when they are not what a histogram can hold: bins outside the range,
  /// negative counts, borders that are not finite, in the wrong order or outside the range of the bins.
  static Histogram restore(int exponent, int first, const std::vector<int64_t>& counts, double min,
                           double max);

  /// False, and nothing counted, when a value is NaN or infinite.
  bool add(std::span<const float> values);

  int64_t count() const { return count_; }
  double min() const { return count_ == 0 ? 0 : min_; }
  double max() const { return count_ == 0 ? 0 : max_; }
  /// The largest magnitude; 0 when nothing was counted.
  double amax() const;
  double width() const;
  /// Bins reach from -2^exponent to 2^exponent.
  int exponent() const { return exponent_; }

  /// Counts of |x|: bin i is from i*width to (i+1)*width, and the last one holds amax(). One bin when all
  /// values are 0.
  std::vector<double> magnitudes() const;
  /// Counts of x: bin i is from (first + i)*width on.
  struct Signed {
    int first = 0;
    std::vector<double> bins;
  };
  Signed values() const;
  /// The counts that restore() takes.
  std::vector<int64_t> counts(int* first) const;

 private:
  void widen_to(int exponent);

  int exponent_;
  int64_t count_ = 0;
  double min_ = 0;
  double max_ = 0;
  /// Bin kBins + i holds values from i*width on.
  std::vector<int64_t> bins_;
};

}  // namespace hone::quantize
