// See histogram.hpp.
#include "quantize/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"

namespace hone::quantize {
namespace {

/// Smaller values count as zero; they are negligible in every tensor with a useful range.
constexpr int kLeastExponent = -100;
/// 2^128 is larger than every float.
constexpr int kMostExponent = 128;
constexpr int kBinBits = 12;
static_assert(Histogram::kBins == 1 << kBinBits);
constexpr int kAllBins = 2 * Histogram::kBins;

/// The least exponent whose power of two is above the magnitude.
int exponent_for(double magnitude) {
  if (magnitude <= 0) return kLeastExponent;
  return std::clamp(std::ilogb(magnitude) + 1, kLeastExponent, kMostExponent);
}

struct Extremes {
  float low = std::numeric_limits<float>::infinity();
  float high = -std::numeric_limits<float>::infinity();
  bool finite = true;
};

/// Separate lanes let the compiler use vector instructions.
Extremes extremes_of(std::span<const float> values) {
  constexpr size_t kLanes = 16;
  float low[kLanes];
  float high[kLanes];
  int bad[kLanes] = {};
  std::fill_n(low, kLanes, std::numeric_limits<float>::infinity());
  std::fill_n(high, kLanes, -std::numeric_limits<float>::infinity());
  const auto take = [&](size_t lane, float value) {
    low[lane] = value < low[lane] ? value : low[lane];
    high[lane] = value > high[lane] ? value : high[lane];
    bad[lane] |= static_cast<int>(!(std::fabs(value) <= std::numeric_limits<float>::max()));
  };
  const size_t whole = values.size() / kLanes * kLanes;
  for (size_t i = 0; i < whole; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) take(lane, values[i + lane]);
  }
  for (size_t i = whole; i < values.size(); ++i) take(0, values[i]);
  return {*std::min_element(low, low + kLanes), *std::max_element(high, high + kLanes),
          std::none_of(bad, bad + kLanes, [](int value) { return value != 0; })};
}

}  // namespace

Histogram::Histogram() : exponent_(kLeastExponent), bins_(kAllBins) {}

Histogram Histogram::restore(int exponent, int first, const std::vector<int64_t>& counts, double min,
                             double max) {
  Histogram result;
  if (exponent < kLeastExponent || exponent > kMostExponent)
    fail_bad_input("the exponent of a histogram is {}", exponent);
  if (first < -kBins || counts.size() > kAllBins || first > kBins - static_cast<int>(counts.size()))
    fail_bad_input("bins {} to {} are outside a histogram", first,
                   static_cast<int64_t>(first) + static_cast<int64_t>(counts.size()));
  result.exponent_ = exponent;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] < 0 || counts[i] > std::numeric_limits<int64_t>::max() - result.count_)
      fail_bad_input("a histogram holds the count {}", counts[i]);
    result.bins_[static_cast<size_t>(kBins + first) + i] = counts[i];
    result.count_ += counts[i];
  }
  const double range = std::ldexp(1.0, exponent);
  if (!(min <= max) || !(min >= -range) || !(max <= range))
    fail_bad_input("a range is {} to {}, outside its histogram, which ends at {}", min, max, range);
  result.min_ = min;
  result.max_ = max;
  return result;
}

double Histogram::amax() const { return std::max(-min(), max()); }
double Histogram::width() const { return std::ldexp(1.0, exponent_ - kBinBits); }

void Histogram::widen_to(int exponent) {
  for (; exponent_ < exponent; ++exponent_) {
    std::vector<int64_t> wider(kAllBins);
    for (int i = -kBins; i < kBins; ++i) {
      // Rounds down, so that bins below 0 stay below 0.
      const int target = i >= 0 ? i / 2 : (i - 1) / 2;
      wider[static_cast<size_t>(kBins + target)] += bins_[static_cast<size_t>(kBins + i)];
    }
    bins_ = std::move(wider);
  }
}

bool Histogram::add(std::span<const float> values) {
  if (values.empty()) return true;
  const Extremes extremes = extremes_of(values);
  if (!extremes.finite) return false;
  const double low = extremes.low;
  const double high = extremes.high;
  min_ = count_ == 0 ? low : std::min(min_, low);
  max_ = count_ == 0 ? high : std::max(max_, high);
  count_ += static_cast<int64_t>(values.size());
  widen_to(exponent_for(std::max(-low, high)));
  // The factor is a power of two, so the product is exact. A factor beyond float's range is split into two.
  const int shift = kBinBits - exponent_;
  const auto first = static_cast<float>(std::ldexp(1.0, shift / 2));
  const auto second = static_cast<float>(std::ldexp(1.0, shift - shift / 2));
  int64_t* const middle = bins_.data() + kBins;
  for (const float value : values) {
    const float place = std::floor(value * first * second);
    ++middle[std::clamp(static_cast<int>(place), -kBins, kBins - 1)];
  }
  return true;
}

std::vector<double> Histogram::magnitudes() const {
  const auto used = std::min(static_cast<int>(std::floor(amax() / width())) + 1, kBins);
  std::vector<double> result(static_cast<size_t>(used));
  for (int i = 0; i < used; ++i) {
    result[static_cast<size_t>(i)] = static_cast<double>(bins_[static_cast<size_t>(kBins + i)] +
                                                         bins_[static_cast<size_t>(kBins - 1 - i)]);
  }
  return result;
}

std::vector<int64_t> Histogram::counts(int* first) const {
  const auto is_used = [](int64_t count) { return count > 0; };
  const auto begin = std::find_if(bins_.begin(), bins_.end(), is_used);
  const auto end = std::find_if(bins_.rbegin(), bins_.rend(), is_used).base();
  if (begin == bins_.end()) {
    *first = 0;
    return {};
  }
  *first = static_cast<int>(begin - bins_.begin()) - kBins;
  return {begin, end};
}

Histogram::Signed Histogram::values() const {
  Signed result;
  const std::vector<int64_t> found = counts(&result.first);
  result.bins.assign(found.begin(), found.end());
  return result;
}

}  // namespace hone::quantize
