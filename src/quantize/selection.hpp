// Chooses one range for each quantized value, and the calibrator that produces it.
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

/// Options in addition to the calibrator. The values of a group get the union of their ranges.
struct RangeOptions {
  Target target = Target::kPortable;
  CalibratorOptions calibrator;
};

/// The ranges of one calibrator, in the order of Placement::values.
std::vector<ChosenRange> ranges_by(Calibrator calibrator, const Placement& placement,
                                   const Calibration& calibration, const RangeOptions& options);

/// The scales of ranges. The integer form follows from the least value of a group.
std::vector<ActivationScale> scales_of(const std::vector<ChosenRange>& ranges, const Placement& placement,
                                       const Calibration& calibration, Target target);

/// The effect of quantization on the outputs of the whole model: the root of the mean, over outputs and
/// samples, of |q - f|^2 / |f|^2.
struct WholeError {
  std::string name;  ///< name of the calibrator, or "mixed" for a separate choice for each value
  double error = 0;
};

struct Selection {
  std::vector<ChosenRange> ranges;
  /// The least error first; includes "mixed".
  std::vector<WholeError> errors;
};

struct SelectOptions {
  RangeOptions ranges;
  QdqOptions qdq;
  std::function<void(const base::Progress&)> progress;
  const system::StopFlag* stop = nullptr;
};

/// The calibrator `auto`. For each group it chooses the range with which quantizing only the last value of
/// the group changes the model's outputs least. Then it quantizes the whole model with these ranges, and with
/// those of each single calibrator, and takes the ranges with the least change. Nodes before a value are
/// computed once. Throws system::Interrupted if the flag is set.
Selection select_ranges(const graph::Graph& graph, const Placement& placement, const Calibration& calibration,
                        const std::vector<Samples>& samples, const MakeRunner& make_runner,
                        const SelectOptions& options);

}  // namespace hone::quantize
