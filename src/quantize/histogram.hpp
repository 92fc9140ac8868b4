// A histogram of a tensor's values, counted in one pass over data whose range is not known in advance.
//
// The bin width is a power of two. If a value is out of range, the width is doubled and adjacent bins are
// merged, so the counts depend only on the values and not on their order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hone::quantize {

class Histogram {
 public:
  /// Number of bins of each sign. At least half of them are below the largest magnitude.
  static constexpr int kBins = 4096;

  Histogram();
  /// Restores the histogram of a file. Bad input for counts that no histogram can have: bins out of range,
  /// negative counts, or limits that are not finite, in the wrong order or outside the range of the bins.
  static Histogram restore(int exponent, int first, const std::vector<int64_t>& counts, double min,
                           double max);

  /// Returns false and counts nothing if a value is NaN or infinite.
  bool add(std::span<const float> values);

  int64_t count() const { return count_; }
  double min() const { return count_ == 0 ? 0 : min_; }
  double max() const { return count_ == 0 ? 0 : max_; }
  /// The largest magnitude; 0 if nothing was counted.
  double amax() const;
  double width() const;
  /// The bins cover -2^exponent to 2^exponent.
  int exponent() const { return exponent_; }

  /// Counts of |x|: bin i covers i*width to (i+1)*width, and the last one contains amax(). There is one bin
  /// if all values are 0.
  std::vector<double> magnitudes() const;
  /// Counts of x: bin i begins at (first + i)*width.
  struct Signed {
    int first = 0;
    std::vector<double> bins;
  };
  Signed values() const;
  /// The counts in the form of restore().
  std::vector<int64_t> counts(int* first) const;

 private:
  void widen_to(int exponent);

  int exponent_;
  int64_t count_ = 0;
  double min_ = 0;
  double max_ = 0;
  /// Bin kBins + i begins at i*width.
  std::vector<int64_t> bins_;
};

}  // namespace hone::quantize
