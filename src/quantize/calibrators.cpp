// See calibrators.hpp. Entropy calibration of N bins takes N * levels steps instead of N * N, because it uses
// prefix sums over the bins, and all bins of a level share its mass.
#include "quantize/calibrators.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "base/error.hpp"

namespace hone::quantize {
namespace {

constexpr int kSignedLevels = 128;
constexpr int kUnsignedLevels = 256;
constexpr double kHighest = 127;
constexpr double kHighestUnsigned = 255;
/// Number of candidates for an asymmetric range, which is reduced on both sides.
constexpr int kShrinkSteps = 128;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double x_log_x(double x) { return x > 0 ? x * std::log(x) : 0; }

/// Prefix sums of a histogram.
class PrefixSums {
 public:
  explicit PrefixSums(std::span<const double> bins)
      : bins_(bins), mass_(bins.size() + 1), used_(bins.size() + 1), entropy_(bins.size() + 1) {
    for (size_t i = 0; i < bins.size(); ++i) {
      mass_[i + 1] = mass_[i] + bins[i];
      used_[i + 1] = used_[i] + (bins[i] > 0 ? 1 : 0);
      entropy_[i + 1] = entropy_[i] + x_log_x(bins[i]);
    }
  }

  /// P is the first `kept` bins, with the remaining counts added to the last of them. Q is the mass of each
  /// level, spread over its bins that are not empty. Returns the sum of p*log(p/q), both normalized.
  double divergence(size_t kept, int levels) const {
    const double total = mass_.back();
    const double inside = mass_[kept];
    const double tail = total - inside;
    const double last = bins_[kept - 1];
    if (inside <= 0 || (last <= 0 && tail > 0)) return kInfinity;
    const double p_log_p = entropy_[kept] - x_log_x(last) + x_log_x(last + tail);
    double p_log_q = 0;
    const auto count = static_cast<size_t>(levels);
    size_t begin = 0;
    for (size_t level = 0; level < count; ++level) {
      // The level of bin j is floor(levels * j / kept).
      const size_t end = ((level + 1) * kept + count - 1) / count;
      const double mass = mass_[end] - mass_[begin];
      const double used = used_[end] - used_[begin];
      const double clipped = level + 1 == count ? tail : 0;
      if (mass > 0) p_log_q += (mass + clipped) * std::log(mass / used);
      begin = end;
    }
    return (p_log_p - p_log_q) / total + std::log(inside / total);
  }

 private:
  std::span<const double> bins_;
  std::vector<double> mass_;
  std::vector<double> used_;
  std::vector<double> entropy_;
};

/// ReLU produces many zeros, which every range represents exactly, so they are not counted.
std::vector<double> without_zero_spike(std::span<const double> magnitudes) {
  std::vector<double> bins(magnitudes.begin(), magnitudes.end());
  if (bins.size() > 1) bins[0] = bins[1];
  return bins;
}

/// A bin with more than this share of the values represents a single frequent value, not a part of a
/// distribution.
constexpr double kSpike = 0.1;

/// A plain image background gives many values at one point other than 0. Any range quantizes such a value
/// equally well, but spread over the bins of its level it would outweigh all others. Therefore its bin gets
/// the count of the next bin in use.
void level_spikes(std::vector<double>& bins) {
  const double most = kSpike * std::accumulate(bins.begin(), bins.end(), 0.0);
  const auto is_ordinary = [&](double count) { return count > 0 && count <= most; };
  for (auto bin = bins.begin(); bin != bins.end(); ++bin) {
    if (*bin <= most) continue;
    const auto next = std::find_if(bin + 1, bins.end(), is_ordinary);
    const auto before = std::find_if(std::make_reverse_iterator(bin), bins.rend(), is_ordinary);
    if (next != bins.end()) {
      *bin = *next;
    } else if (before != bins.rend()) {
      *bin = *before;
    }
  }
}

/// The upper edge of the first bin up to which at least `share` of all counts lie.
double quantile_edge(std::span<const double> bins, double share) {
  const double total = std::accumulate(bins.begin(), bins.end(), 0.0);
  double sum = 0;
  for (size_t i = 0; i < bins.size(); ++i) {
    sum += bins[i];
    if (sum >= share * total) return static_cast<double>(i + 1);
  }
  return static_cast<double>(bins.size());
}

/// The range of magnitudes up to `amax`, limited to the values that occur.
Range clipped(const Histogram& histogram, double amax) {
  return {std::max(std::min(histogram.min(), 0.0), -amax), std::min(std::max(histogram.max(), 0.0), amax)};
}

Range percentile_range(const Histogram& histogram, IntegerForm form, double percentile) {
  const double width = histogram.width();
  if (form != IntegerForm::kAsymmetric)
    return clipped(histogram, quantile_edge(histogram.magnitudes(), percentile / 100) * width);
  const Histogram::Signed values = histogram.values();
  const double kept = 1 - (100 - percentile) / 200;
  std::vector<double> reversed(values.bins.rbegin(), values.bins.rend());
  const double high = (values.first + quantile_edge(values.bins, kept)) * width;
  const double end = values.first + static_cast<double>(values.bins.size());
  const double low = (end - quantile_edge(reversed, kept)) * width;
  return {std::max(histogram.min(), std::min(low, 0.0)), std::min(histogram.max(), std::max(high, 0.0))};
}

/// Squared error of the magnitudes, each at the centre of its bin, in units of the bin width.
double squared_error(std::span<const double> magnitudes, double amax, double highest) {
  const double step = amax / highest;
  const double inverse = highest / amax;
  double error = 0;
  for (size_t i = 0; i < magnitudes.size(); ++i) {
    const double centre = static_cast<double>(i) + 0.5;
    const double level = std::nearbyint(std::min(centre * inverse, highest));
    const double difference = level * step - centre;
    error += magnitudes[i] * difference * difference;
  }
  return error;
}

double squared_error(const Histogram::Signed& values, double width, const Range& range) {
  const Scale scale = scale_of(range, IntegerForm::kAsymmetric);
  double error = 0;
  for (size_t i = 0; i < values.bins.size(); ++i) {
    if (values.bins[i] <= 0) continue;
    const double centre = (values.first + static_cast<double>(i) + 0.5) * width;
    const double level =
        std::clamp(std::nearbyint(centre / scale.scale) + scale.zero_point, 0.0, kHighestUnsigned);
    const double difference = (level - scale.zero_point) * scale.scale - centre;
    error += values.bins[i] * difference * difference;
  }
  return error;
}

Range mse_range(const Histogram& histogram, IntegerForm form) {
  double least = kInfinity;
  if (form == IntegerForm::kAsymmetric) {
    const Range whole = clipped(histogram, histogram.amax());
    const Histogram::Signed values = histogram.values();
    Range best = whole;
    for (int i = kShrinkSteps; i > kShrinkSteps / 8; --i) {
      const double part = static_cast<double>(i) / kShrinkSteps;
      const Range range{whole.low * part, whole.high * part};
      const double error = squared_error(values, histogram.width(), range);
      if (error >= least) continue;
      least = error;
      best = range;
    }
    return best;
  }
  const std::vector<double> magnitudes = histogram.magnitudes();
  const double highest = form == IntegerForm::kUnsigned ? kHighestUnsigned : kHighest;
  double best = histogram.amax() / histogram.width();
  for (size_t i = kSignedLevels; i < magnitudes.size(); ++i) {
    const double amax = static_cast<double>(i) + 0.5;
    const double error = squared_error(magnitudes, amax, highest);
    if (error > least) continue;
    least = error;
    best = amax;
  }
  return clipped(histogram, best * histogram.width());
}

/// The scale must be a normal number in float32; 1 if it is not positive.
float usable_scale(double scale) {
  if (!(scale > 0)) return 1;
  return static_cast<float>(std::clamp(scale, static_cast<double>(std::numeric_limits<float>::min()),
                                       static_cast<double>(std::numeric_limits<float>::max())));
}

}  // namespace

std::string_view calibrator_name(Calibrator calibrator) {
  switch (calibrator) {
    case Calibrator::kMinmax: return "minmax";
    case Calibrator::kPercentile: return "percentile";
    case Calibrator::kEntropy: return "entropy";
    case Calibrator::kMse: return "mse";
  }
  fail_internal("there is no calibrator {}", static_cast<int>(calibrator));
}

double entropy_divergence(std::span<const double> magnitudes, size_t kept, int levels) {
  const std::vector<double> bins = without_zero_spike(magnitudes);
  return PrefixSums(bins).divergence(kept, levels);
}

size_t entropy_bins(std::span<const double> magnitudes, int levels) {
  std::vector<double> bins = without_zero_spike(magnitudes);
  level_spikes(bins);
  const PrefixSums sums(bins);
  size_t best = bins.size();
  double least = kInfinity;
  for (size_t kept = static_cast<size_t>(levels); kept <= bins.size(); ++kept) {
    const double divergence = sums.divergence(kept, levels);
    if (divergence > least || divergence == kInfinity) continue;
    least = divergence;
    best = kept;
  }
  return best;
}

Range choose_range(const Histogram& histogram, Calibrator calibrator, IntegerForm form,
                   const CalibratorOptions& options) {
  const Range whole = clipped(histogram, histogram.amax());
  if (histogram.count() == 0) return whole;
  switch (calibrator) {
    case Calibrator::kMinmax: return whole;
    case Calibrator::kPercentile: return percentile_range(histogram, form, options.percentile);
    case Calibrator::kMse: return mse_range(histogram, form);
    case Calibrator::kEntropy: break;
  }
  const int levels = form == IntegerForm::kUnsigned ? kUnsignedLevels : kSignedLevels;
  const size_t bins = entropy_bins(histogram.magnitudes(), levels);
  return clipped(histogram, static_cast<double>(bins) * histogram.width());
}

Scale scale_of(const Range& range, IntegerForm form) {
  if (form == IntegerForm::kSymmetric) return {usable_scale(std::max(-range.low, range.high) / kHighest), 0};
  if (form == IntegerForm::kUnsigned) return {usable_scale(range.high / kHighestUnsigned), 0};
  const double low = std::min(range.low, 0.0);
  const float scale = usable_scale((std::max(range.high, 0.0) - low) / kHighestUnsigned);
  const double zero = std::nearbyint(-low / static_cast<double>(scale));
  return {scale, static_cast<int>(std::clamp(zero, 0.0, kHighestUnsigned))};
}

float fake_quantized(float value, const Scale& scale, IntegerForm form) {
  const float lowest = form == IntegerForm::kSymmetric ? -128 : 0;
  const float highest = form == IntegerForm::kSymmetric ? 127 : 255;
  const auto zero = static_cast<float>(scale.zero_point);
  const float level = std::clamp(std::nearbyint(value / scale.scale) + zero, lowest, highest);
  return (level - zero) * scale.scale;
}

}  // namespace hone::quantize
