// Pairs of runs that the sweep itself did not compare, so that a reader can choose any of them as the
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
  bench::SpeedupFigure speedup;  ///< of the run over the other
};

/// Every two measured runs once, up to 500 pairs, of a file of schema hone.bench; none where its samples
/// cannot be read.
std::vector<RunPair> compare_pairs(const Json& sweep);

}  // namespace hone::report
