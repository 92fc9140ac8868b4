// The calibration cache: what calibration saw, in one JSON file, from which it goes on or models are
// quantized again without data.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "quantize/calibration.hpp"
#include "quantize/selection.hpp"

namespace hone::quantize {

/// A calibration with the ranges that were chosen from it, in the order of its tensors; none in a calibration
/// that was interrupted.
struct CachedCalibration {
  Calibration calibration;
  std::vector<ChosenRange> ranges;
};

/// Written whole or not at all.
void write_calibration(const std::filesystem::path& file, const CachedCalibration& cached);

/// Bad input naming the file and the field for a file that is no such cache, or one of another version.
CachedCalibration read_calibration(const std::filesystem::path& file);

/// Bad input, naming what differs, unless the cache is of this model: of the same fingerprint, and with the
/// tensors that are to be quantized.
void check_belongs(const std::filesystem::path& file, const Calibration& cached, const Calibration& expected);

}  // namespace hone::quantize
