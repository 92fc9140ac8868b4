// Results of running a model on real data: statistics of its values.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "quantize/data.hpp"
#include "quantize/histogram.hpp"
#include "quantize/placement.hpp"
#include "quantize/runner.hpp"
#include "system/interruption.hpp"

namespace hone::quantize {

/// Statistics of one value over all samples.
struct TensorStatistics {
  std::string name;
  Histogram histogram;
  /// The axis of input channels; -1 where channels do not matter.
  int64_t channel_axis = -1;
  /// Sums over everything but that axis, and how many numbers are in each.
  std::vector<double> channel_sums;
  int64_t channel_count = 0;
  /// Each time that a sample raised the largest magnitude: the number of samples then, and the new magnitude.
  struct Growth {
    int64_t samples = 0;
    double amax = 0;
  };
  std::vector<Growth> growth;

  /// Counts a value of the `samples`th sample. False, and nothing counted, when it holds NaN or infinity.
  bool add(const tensor::Tensor& value, int64_t samples);
  std::vector<double> channel_means() const;
};

/// A value whose channels are divided by these factors where it is made; those who read it multiply their
/// weights by them (equalization.hpp).
struct EqualizedValue {
  std::string name;
  std::vector<double> factors;
};
using Equalization = std::vector<EqualizedValue>;

struct Calibration {
  /// fingerprint_of() the graph.
  std::string model;
  /// As preprocessing_text() has it, which matters to images only.
  std::string preprocessing;
  /// The entries of metadata that a model needs to be given such images (DataOptions::image_metadata).
  std::map<std::string, std::string> image_metadata;
  std::vector<std::string> sources;
  int64_t samples = 0;
  /// True if all of the data were seen.
  bool finished = false;
  /// Changes made to the model before it was observed.
  Equalization equalization;
  /// In the order of Placement::values.
  std::vector<TensorStatistics> tensors;
};

/// Nothing counted yet.
Calibration begin_calibration(const graph::Graph& graph, const Placement& placement,
                              const DataOptions& options);

struct CalibrateOptions {
  std::function<void(const base::Progress&)> progress;
  /// When it is set, calibration ends after the sample at hand; null: never.
  const system::StopFlag* stop = nullptr;
  int threads = 1;
};

/// Runs the graph on the data that the calibration has not seen yet, observing all of its tensors. Bad input
/// naming file and tensor for values that are NaN or infinite.
void calibrate(const graph::Graph& graph, CalibrationData& data, const MakeRunner& make_runner,
               const CalibrateOptions& options, Calibration& calibration);

/// How images became the input, on one line.
std::string preprocessing_text(const DataOptions& options);

/// Shows whether ranges had settled.
struct Convergence {
  /// Share by which the last quarter of the samples raised the largest magnitude of a tensor, the most of all
  /// tensors, and that tensor.
  double most = 0;
  std::string tensor;
  /// Tensors for which it was above kSettled.
  int64_t growing = 0;

  static constexpr double kSettled = 0.05;
  bool settled() const { return growing == 0; }
};
Convergence convergence_of(const Calibration& calibration);

}  // namespace hone::quantize
