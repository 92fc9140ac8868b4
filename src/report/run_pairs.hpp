// Compares pairs of runs that the sweep itself did not compare, so that a reader can choose any run as the
// baseline.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "bench/results/run_record.hpp"

namespace hone::report {

/// Two runs of one model, batch and way of measuring.
struct RunPair {
  bench::Setup run;
  bench::SpeedupFigure speedup;  ///< of the run over the other run
};

/// Returns each pair of measured runs of a file of schema hone.bench once, up to 500 pairs; none if its
/// samples cannot be read.
std::vector<RunPair> compare_pairs(const Json& sweep);

}  // namespace hone::report
