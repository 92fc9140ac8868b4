// The calibration cache: the statistics of a calibration in one JSON file. Calibration can continue from it,
// and models can be quantized again without data.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "quantize/calibration.hpp"
#include "quantize/selection.hpp"

namespace hone::quantize {

/// A calibration, and the ranges that were chosen from it in the order of its tensors. An interrupted
/// calibration has no ranges.
struct CachedCalibration {
  Calibration calibration;
  std::vector<ChosenRange> ranges;
};

/// Publishes the file only when it is complete.
void write_calibration(const std::filesystem::path& file, const CachedCalibration& cached);

/// Bad input that names the file and the field if the file is not such a cache, or is of another version.
CachedCalibration read_calibration(const std::filesystem::path& file);

/// Bad input that names the difference, unless the cache belongs to this model: it must have the same
/// fingerprint and contain the tensors to be quantized.
void check_belongs(const std::filesystem::path& file, const Calibration& cached, const Calibration& expected);

}  // namespace hone::quantize
