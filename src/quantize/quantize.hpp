// Converts a model in floating point to int8 with real data: calibrates, chooses ranges, and writes Q/DQ
// nodes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "quantize/accuracy_budget.hpp"
#include "quantize/calibration_cache.hpp"
#include "quantize/data.hpp"
#include "quantize/evaluation.hpp"
#include "quantize/labels.hpp"
#include "quantize/placement.hpp"
#include "quantize/qdq.hpp"
#include "quantize/selection.hpp"

namespace hone::quantize {

/// A model that can be quantized.
struct Subject {
  graph::Graph model;
  /// float_graph() of the model.
  graph::Graph graph;
  Placement placement;
};

/// Bad input if the model is already quantized (the error names the node) or if it contains nothing to
/// quantize.
Subject prepare(const graph::Graph& model);

/// Settings for judging the result.
struct JudgeOptions {
  /// If absent, the calibration data are used.
  std::optional<DataOptions> data;
  std::optional<Labels> labels;
  /// If 0, the result is not compared with the original.
  int64_t samples = 32;
};

struct QuantizeOptions {
  Target target = Target::kPortable;
  /// If absent, `auto` is used, which chooses by the error at the model's outputs (select_ranges()).
  std::optional<Calibrator> calibrator;
  CalibratorOptions calibrator_options;
  bool bias_correction = true;
  /// Equalizes channels if that is measured to help (choose_equalization()). Not for TensorRT's cache, whose
  /// ranges must be those of the unchanged model.
  bool equalize = true;
  /// Rounds weights with gptq_weights(); needs data.
  bool gptq = false;
  /// Observes all float32 tensors, not only quantized ones, because TensorRT's cache names all of them.
  bool every_tensor = false;
  /// Number of samples on which `auto` compares ranges.
  int64_t selection_samples = 4;
  JudgeOptions judge;
  /// The greatest allowed Accuracy::loss(); layers stay in floating point until it is met. Absent: no budget.
  std::optional<double> budget;
  /// Measures times for the budget.
  TimeNodes time_nodes;
  int threads = 1;
  std::function<void(const base::Progress&)> progress;
  const system::StopFlag* stop = nullptr;
};

/// Calibrates on data. If the file `cache` contains an unfinished calibration of the same model and data, it
/// continues from there. If it is interrupted, it writes the statistics so far to the file and throws
/// system::Interrupted. An empty `cache` means no file. `left_over` receives the number of samples that did
/// not fill a batch; it may be null.
Calibration calibrate(const Subject& subject, const DataOptions& data, const std::filesystem::path& cache,
                      const MakeRunner& make_runner, const QuantizeOptions& options,
                      int64_t* left_over = nullptr);

struct Quantized {
  graph::Graph graph;
  /// The target's rules for integer products, and the part of the subject's placement that they allow.
  PlacementRules rules;
  Placement whole;
  std::vector<ChosenRange> ranges;
  std::vector<ActivationScale> scales;
  /// The errors that `auto` compared; empty without data.
  std::vector<WholeError> errors;
  /// Absent without data, or if it was not requested.
  std::optional<Accuracy> accuracy;
  /// The placement in `graph`; with a budget, it is a part of `whole`.
  Placement placement;
  /// The result of a budget, except its graph and placement, which are moved to the members above.
  std::optional<BudgetResult> budget;
};

/// Reads the data and labels for judging the result as quantize() will, so that mistakes in them appear
/// before hours of calibration. `data` is as in quantize().
void check_judged(const Subject& subject, const DataOptions* data, const QuantizeOptions& options);

/// Quantizes with the results of a calibration. `data`, which may be null, is read again for `auto` and for
/// the accuracy. `cached` holds the ranges that `auto` uses without data. Bad input for a calibration without
/// samples.
Quantized quantize(const Subject& subject, const Calibration& calibration,
                   const std::vector<ChosenRange>& cached, const DataOptions* data,
                   const MakeRunner& make_runner, const QuantizeOptions& options);

/// Reads the calibration of the model from a cache in either format. Bad input that names the file if the
/// cache belongs to another model or is unfinished, or if a quantized tensor is missing in a cache of
/// TensorRT.
CachedCalibration calibration_from(const std::filesystem::path& file, const Subject& subject);

/// Writes the equivalent cache in TensorRT's format.
void write_for_tensorrt(const std::filesystem::path& file, const Calibration& calibration,
                        const std::vector<ChosenRange>& ranges, int version);

}  // namespace hone::quantize
