// A model in floating point and real data become a model with int8: calibrate, choose ranges, write Q/DQ.
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
  /// float_graph() of it.
  graph::Graph graph;
  Placement placement;
};

/// Bad input naming the node for a model that is quantized already, and for one without anything that could
/// be.
Subject prepare(const graph::Graph& model);

/// Settings for judging the result.
struct JudgeOptions {
  /// Absent: the calibration data.
  std::optional<DataOptions> data;
  std::optional<Labels> labels;
  /// 0: the result is not compared with the original.
  int64_t samples = 32;
};

struct QuantizeOptions {
  Target target = Target::kPortable;
  /// Absent: `auto`, which chooses by the error at the model's outputs (select_ranges()).
  std::optional<Calibrator> calibrator;
  CalibratorOptions calibrator_options;
  bool bias_correction = true;
  /// Spreads channels alike where that is measured to help (choose_equalization()). Not for TensorRT's cache,
  /// whose ranges are of the model as it is.
  bool equalize = true;
  /// Rounds weights as gptq_weights() does; needs data.
  bool gptq = false;
  /// Observes every tensor of float32, not only those that are quantized: TensorRT's cache names all.
  bool every_tensor = false;
  /// Samples that `auto` compares ranges on.
  int64_t selection_samples = 4;
  JudgeOptions judge;
  /// The most that Accuracy::loss() may be; layers stay in floating point until it is. Absent: none does.
  std::optional<double> budget;
  /// Times for the budget.
  TimeNodes time_nodes;
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

struct Quantized {
  graph::Graph graph;
  /// The target's rules for integer products, and the part of the subject's placement that they allow.
  PlacementRules rules;
  Placement whole;
  std::vector<ChosenRange> ranges;
  std::vector<ActivationScale> scales;
  /// Errors for `auto` on data, else empty.
  std::vector<WholeError> errors;
  /// Absent without data, and where it was not asked for.
  std::optional<Accuracy> accuracy;
  /// The placement in `graph`; with a budget, less than `whole`.
  Placement placement;
  /// The result of a budget. Its graph and placement are moved to those above.
  std::optional<BudgetResult> budget;
};

/// Reads what the result is to be judged on and its labels, as quantize() will: a mistake there shows before
/// hours of calibration. `data` as for quantize().
void check_judged(const Subject& subject, const DataOptions* data, const QuantizeOptions& options);

/// Quantizes by the results of the calibration; `data`, which may be null, is read again for `auto` and for
/// the accuracy. `cached`: the ranges that `auto` takes without data. Bad input for a calibration without
/// samples.
Quantized quantize(const Subject& subject, const Calibration& calibration,
                   const std::vector<ChosenRange>& cached, const DataOptions* data,
                   const MakeRunner& make_runner, const QuantizeOptions& options);

/// Reads the calibration of the model from a cache of either format. Bad input naming the file for a cache of
/// another model, one that is unfinished, and for a tensor that is quantized and not in a cache of TensorRT.
CachedCalibration calibration_from(const std::filesystem::path& file, const Subject& subject);

/// The cache of TensorRT that says the same.
void write_for_tensorrt(const std::filesystem::path& file, const Calibration& calibration,
                        const std::vector<ChosenRange>& ranges, int version);

}  // namespace hone::quantize
