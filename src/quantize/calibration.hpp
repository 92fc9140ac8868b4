// Runs a model on real data and collects statistics of its values.
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
  /// The axis of input channels; -1 if channels do not matter.
  int64_t channel_axis = -1;
  /// Sums over all axes except channel_axis, and the number of elements in each sum.
  std::vector<double> channel_sums;
  int64_t channel_count = 0;
  /// A sample that raised the largest magnitude: the number of samples at this point, and the new magnitude.
  struct Growth {
    int64_t samples = 0;
    double amax = 0;
  };
  std::vector<Growth> growth;

  /// Updates the statistics with a value of sample number `samples`. Returns false and changes nothing if it
  /// contains NaN or infinity.
  bool add(const tensor::Tensor& value, int64_t samples);
  std::vector<double> channel_means() const;
};

/// A value whose producer divides its channels by these factors, while its readers multiply their weights by
/// them (equalization.hpp).
struct EqualizedValue {
  std::string name;
  std::vector<double> factors;
};
using Equalization = std::vector<EqualizedValue>;

struct Calibration {
  /// fingerprint_of() the graph.
  std::string model;
  /// The result of preprocessing_text(); it matters only for images.
  std::string preprocessing;
  /// The entries of metadata with which a model preprocesses images in the same way
  /// (DataOptions::image_metadata).
  std::map<std::string, std::string> image_metadata;
  std::vector<std::string> sources;
  int64_t samples = 0;
  /// True if all data were used.
  bool finished = false;
  /// Changes made to the model before it was observed.
  Equalization equalization;
  /// In the order of Placement::values.
  std::vector<TensorStatistics> tensors;
};

/// Returns a calibration without any samples.
Calibration begin_calibration(const graph::Graph& graph, const Placement& placement,
                              const DataOptions& options);

struct CalibrateOptions {
  std::function<void(const base::Progress&)> progress;
  /// If it is set, calibration ends after the current sample; null: never.
  const system::StopFlag* stop = nullptr;
  int threads = 1;
};

/// Runs the graph on the data that the calibration has not used yet, and observes all of its tensors. Bad
/// input that names file and tensor if a value is NaN or infinite.
void calibrate(const graph::Graph& graph, CalibrationData& data, const MakeRunner& make_runner,
               const CalibrateOptions& options, Calibration& calibration);

/// Describes on one line how images became the input.
std::string preprocessing_text(const DataOptions& options);

/// Shows whether the ranges had settled.
struct Convergence {
  /// The share by which the last quarter of the samples raised the largest magnitude, for the tensor with the
  /// largest such share, and the name of this tensor.
  double most = 0;
  std::string tensor;
  /// Number of tensors for which the share was above kSettled.
  int64_t growing = 0;

  static constexpr double kSettled = 0.05;
  bool settled() const { return growing == 0; }
};
Convergence convergence_of(const Calibration& calibration);

}  // namespace hone::quantize
