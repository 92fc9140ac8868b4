// A model in floating point and real data become a model with int8: calibrate, choose ranges, write Q/DQ.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "quantize/calibration_cache.hpp"
#include "quantize/data.hpp"
#include "quantize/placement.hpp"
#include "quantize/qdq.hpp"
#include "quantize/selection.hpp"

namespace hone::quantize {

/// A model that can be quantized.
struct Subject {
  graph::Graph model;
  /// float_graph() of it.
  graph::Graph graph;
  Placement placement;
};

/// Bad input naming the node for a model that is quantized already, and for one without anything that could
/// be.
Subject prepare(const graph::Graph& model);

struct QuantizeOptions {
  Target target = Target::kPortable;
  /// Absent: `auto`, which chooses by the error at the model's outputs (select_ranges()).
  std::optional<Calibrator> calibrator;
  CalibratorOptions calibrator_options;
  bool bias_correction = true;
  /// Observes every tensor of float32, not only those that are quantized: TensorRT's cache names all.
  bool every_tensor = false;
  /// Samples that `auto` compares ranges on, and those that the result is compared with the original on; 0 of
  /// these: it is not.
  int64_t selection_samples = 4;
  int64_t accuracy_samples = 32;
  int threads = 1;
  std::function<void(const base::Progress&)> progress;
  const system::StopFlag* stop = nullptr;
};

/// Calibrates on data. Where `cache` is a file with an unfinished calibration of the same model and data, it
/// goes on from there. When it is interrupted, the file holds what was seen until then, and
/// system::Interrupted is thrown. Empty: no file. `left_over` gets the number of samples that were too few
/// for a batch; it may be null.
Calibration calibrate(const Subject& subject, const DataOptions& data, const std::filesystem::path& cache,
                      const MakeRunner& make_runner, const QuantizeOptions& options,
                      int64_t* left_over = nullptr);

/// How close the outputs are to those of the original.
struct Accuracy {
  int64_t samples = 0;
  double relative_error = 0;  ///< as WholeError::error
  double cosine = 1;          ///< the least of all outputs and samples
  /// Share of the rows of outputs of class scores whose largest element is the same; absent where the first
  /// output is no matrix.
  std::optional<double> top1;
};

struct Quantized {
  graph::Graph graph;
  /// Of the subject's placement what the target multiplies as integers.
  Placement placement;
  std::vector<ChosenRange> ranges;
  std::vector<ActivationScale> scales;
  /// Of `auto` on data, else empty.
  std::vector<WholeError> errors;
  /// Absent without data, and where it was not asked for.
  std::optional<Accuracy> accuracy;
};

/// Quantizes by what calibration saw; `data`, which may be null, is read again for `auto` and for the
/// accuracy. `cached`: the ranges that `auto` takes without data. Bad input for a calibration without
/// samples.
Quantized quantize(const Subject& subject, const Calibration& calibration,
                   const std::vector<ChosenRange>& cached, const DataOptions* data,
                   const MakeRunner& make_runner, const QuantizeOptions& options);

/// What a cache of either format says of the model. Bad input naming the file for a cache of another model,
/// one that is unfinished, and for a tensor that is quantized and not in a cache of TensorRT.
CachedCalibration calibration_from(const std::filesystem::path& file, const Subject& subject);

/// The cache of TensorRT that says the same.
void write_for_tensorrt(const std::filesystem::path& file, const Calibration& calibration,
                        const std::vector<ChosenRange>& ranges, int version);

}  // namespace hone::quantize
