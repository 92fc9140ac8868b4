// One range for each quantized value, and the calibrator that gave it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "quantize/calibration.hpp"
#include "quantize/calibrators.hpp"
#include "quantize/qdq.hpp"

namespace hone::quantize {

struct ChosenRange {
  Calibrator calibrator = Calibrator::kMinmax;
  Range range;
};

/// Whose range goes beyond a calibrator's: values of a group have the union of their ranges.
struct RangeOptions {
  Target target = Target::kPortable;
  CalibratorOptions calibrator;
};

/// The ranges by one calibrator, in the order of Placement::values.
std::vector<ChosenRange> ranges_by(Calibrator calibrator, const Placement& placement,
                                   const Calibration& calibration, const RangeOptions& options);

/// The scales of ranges. The integers' form follows from the least value of a group.
std::vector<ActivationScale> scales_of(const std::vector<ChosenRange>& ranges, const Placement& placement,
                                       const Calibration& calibration, Target target);

/// How far quantization moves the outputs of a whole model: the root of the mean, over outputs and samples,
/// of |q - f|^2 / |f|^2.
struct WholeError {
  std::string name;  ///< of the calibrator, or "mixed" for a choice value by value
  double error = 0;
};

struct Selection {
  std::vector<ChosenRange> ranges;
  /// The least first; "mixed" among them.
  std::vector<WholeError> errors;
};

struct SelectOptions {
  RangeOptions ranges;
  QdqOptions qdq;
  std::function<void(const base::Progress&)> progress;
  const system::StopFlag* stop = nullptr;
};

/// The calibrator `auto`. For each group it takes the range with which quantizing only its last value moves
/// the model's outputs least; then, for the whole model quantized, this choice or the ranges of one
/// calibrator for all values, whichever moves them least. Nodes before a value are computed once. Throws
/// system::Interrupted when the flag is set.
Selection select_ranges(const graph::Graph& graph, const Placement& placement, const Calibration& calibration,
                        const std::vector<Samples>& samples, const MakeRunner& make_runner,
                        const SelectOptions& options);

}  // namespace hone::quantize
