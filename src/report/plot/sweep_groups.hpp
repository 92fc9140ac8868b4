// Groups the runs of any number of sweeps by figure: one model with inputs of one shape, measured in one way.
#pragma once

#include <string>
#include <vector>

#include "report/plot/figure.hpp"
#include "report/plot/sweep_file.hpp"

namespace hone::report {

/// All batches of one backend in one precision.
struct SweepSeries {
  std::string name;  ///< "hone bf16"
  SeriesStyle style;
  std::vector<SweepRun> runs;  ///< one for each batch, sorted
};

struct SweepGroup {
  /// First part of its file names: the model and, if it has several groups, the settings in which they
  /// differ.
  std::string name;
  std::string model;         ///< its short name: "resnet50", or "a/net" and "b/net" for two models called net
  std::string input_shapes;  ///< bench::input_shapes
  /// The model and the inputs whose shapes distinguish its groups: "bert (ids 1x128)".
  std::string subject;
  std::string machine;  ///< "NVIDIA H200, inputs already on the device, 2026-11-21"
  bench::Setup setup;   ///< the setup that its runs share, see bench::comparable_part
  std::string processor;
  std::vector<SweepSeries> series;
  std::vector<std::string> notes;
};

/// If a configuration was measured more than once, the run of the newest sweep is kept, and a note says so.
/// Groups are in the order of their first runs. Each of `backends` always has the colour of its index; other
/// backends get the free colours in the order of the runs, the same in all groups.
std::vector<SweepGroup> group_runs(const std::vector<SweepRun>& runs,
                                   const std::vector<std::string>& backends = {});

}  // namespace hone::report
