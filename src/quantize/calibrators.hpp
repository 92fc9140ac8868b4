// Chooses from a histogram the range over which an integer's levels are spread.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "quantize/histogram.hpp"

namespace hone::quantize {

/// Ways to choose a range.
enum class Calibrator { kMinmax, kPercentile, kEntropy, kMse };
inline constexpr Calibrator kCalibrators[] = {Calibrator::kMinmax, Calibrator::kPercentile,
                                              Calibrator::kEntropy, Calibrator::kMse};
std::string_view calibrator_name(Calibrator calibrator);

/// How integers of 8 bits stand for the values of one tensor.
enum class IntegerForm {
  kSymmetric,   ///< int8, zero point 0, levels -127 to 127
  kUnsigned,    ///< uint8, zero point 0, for values that are never negative
  kAsymmetric,  ///< uint8 with a zero point
};

/// Values outside become the nearest border. It always holds 0.
struct Range {
  double low = 0;
  double high = 0;
};

struct CalibratorOptions {
  /// Share of the values, in percent, that `percentile` keeps.
  double percentile = 99.99;
};

/// The best range for the values of a histogram; the whole range where there are only a few bins. minmax: all
/// values. percentile: the least range that holds this share of the values, or cuts half of the rest from
/// each side of an asymmetric one. entropy: entropy_bins() of the magnitudes, which clips both sides. mse:
/// the range for which the mean squared error of the bins' centres is least.
Range choose_range(const Histogram& histogram, Calibrator calibrator, IntegerForm form,
                   const CalibratorOptions& options = {});

/// TensorRT's entropy calibration as pytorch-quantization has it: of `levels` to all bins, the number whose
/// clipped distribution has the least divergence (Kullback-Leibler) to itself in `levels` levels, the last of
/// equals. The first bin (ReLU's zeros), and in hone any with a tenth of the values, counts as the next one.
size_t entropy_bins(std::span<const double> magnitudes, int levels);

/// The divergence for the first `kept` bins. Infinite where a level would be empty that clipped values are
/// in.
double entropy_divergence(std::span<const double> magnitudes, size_t kept, int levels);

/// value = scale * (integer - zero_point).
struct Scale {
  float scale = 1;
  int zero_point = 0;
};
/// The scale of a range: its larger magnitude is level 127 of kSymmetric, its high border level 255 of
/// kUnsigned. kAsymmetric moves zero to the nearest integer. 1 for a range of 0.
Scale scale_of(const Range& range, IntegerForm form);

/// Returns the value after quantizing and dequantizing: halves to even, clipped.
float fake_quantized(float value, const Scale& scale, IntegerForm form);

}  // namespace hone::quantize
