// Runs of any number of sweeps grouped by figure: one model, measured in one way.
#pragma once

#include <string>
#include <vector>

#include "report/plot/figure.hpp"
#include "report/plot/sweep_file.hpp"

namespace hone::report {

/// All batches of a backend in a precision.
struct SweepSeries {
  std::string name;  ///< "hone bf16"
  SeriesStyle style;
  std::vector<SweepRun> runs;  ///< by batch, one each
};

struct SweepGroup {
  /// Begins the names of its files: the model, with the settings in which it differs where there are several.
  std::string name;
  std::string model;
  std::string machine;  ///< "NVIDIA H200, inputs already on the device, 2026-11-21"
  bench::Setup setup;   ///< what its runs have in common, see bench::comparable_part
  std::string processor;
  std::vector<SweepSeries> series;
  std::vector<std::string> notes;
};

/// If a configuration was measured more than once, the run of the newest sweep stays, which a note says.
/// Groups are in the order in which their first runs come. Each of `backends` always has the colour of its
/// place; others take what is free, in the order of the runs and alike in all groups.
std::vector<SweepGroup> group_runs(const std::vector<SweepRun>& runs,
                                   const std::vector<std::string>& backends = {});

}  // namespace hone::report
