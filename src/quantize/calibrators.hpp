// Chooses from a histogram the range that the levels of an integer type cover.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "quantize/histogram.hpp"

namespace hone::quantize {

/// Methods to choose a range.
enum class Calibrator { kMinmax, kPercentile, kEntropy, kMse };
inline constexpr Calibrator kCalibrators[] = {Calibrator::kMinmax, Calibrator::kPercentile,
                                              Calibrator::kEntropy, Calibrator::kMse};
std::string_view calibrator_name(Calibrator calibrator);

/// How 8-bit integers represent the values of a tensor.
enum class IntegerForm {
  kSymmetric,   ///< int8, zero point 0, levels -127 to 127
  kUnsigned,    ///< uint8, zero point 0, for values that are never negative
  kAsymmetric,  ///< uint8 with a zero point
};

/// Values outside the range are clipped to its nearest end. The range always contains 0.
struct Range {
  double low = 0;
  double high = 0;
};

struct CalibratorOptions {
  /// Share of the values, in percent, that the method `percentile` keeps.
  double percentile = 99.99;
};

/// Returns the best range for a histogram; the whole range if there are only a few bins. minmax covers all
/// values. percentile gives the least range that contains this share of the values; an asymmetric range cuts
/// half of the rest at each side. entropy uses entropy_bins() of the magnitudes, which clips both sides. mse
/// gives the range with the least mean squared error at the centres of the bins.
Range choose_range(const Histogram& histogram, Calibrator calibrator, IntegerForm form,
                   const CalibratorOptions& options = {});

/// TensorRT's entropy calibration, as implemented in pytorch-quantization. Among the numbers of bins from
/// `levels` to all, it returns the one whose clipped distribution has the least Kullback-Leibler divergence
/// from its own quantization to `levels` levels; of equal ones, the last. The first bin (zeros from ReLU)
/// and, in hone, any bin with at least a tenth of the values get the count of the next bin.
size_t entropy_bins(std::span<const double> magnitudes, int levels);

/// The divergence for the first `kept` bins. Infinite if clipped values would fall into a level that is
/// otherwise empty.
double entropy_divergence(std::span<const double> magnitudes, size_t kept, int levels);

/// value = scale * (integer - zero_point).
struct Scale {
  float scale = 1;
  int zero_point = 0;
};
/// Returns the scale of a range. kSymmetric maps its larger magnitude to level 127, kUnsigned maps its high
/// end to level 255, and kAsymmetric rounds the zero point to an integer. The scale of the range {0, 0} is 1.
Scale scale_of(const Range& range, IntegerForm form);

/// Returns the value after quantization and dequantization: rounded half to even, and clipped.
float fake_quantized(float value, const Scale& scale, IntegerForm form);

}  // namespace hone::quantize
