// Requirements on the result of `hone bench`, and the errors (and so the exit codes) for requirements that
// were not met.
#pragma once

#include <string>

#include "bench/sweep/sweep.hpp"
#include "cli/bench_screen.hpp"

namespace hone::cli {

struct BenchLimits {
  double max_error = 0;  ///< 0: no limit
  bool require_valid = false;
  std::string baseline;  ///< a result file; empty: no baseline
  std::string max_regression = "5%";
};

/// Throws a threshold error if the error of a run exceeds --max-error, or if a VALID verdict is required and
/// a run has another. Throws an environment error if nothing was measured.
void judge_sweep(const BenchLimits& limits, const bench::Peers& peers, const bench::Sweep& sweep);

/// Throws a threshold error if a configuration is slower than the baseline allows. A configuration that seems
/// slower is measured a second time first.
void run_gate(const BenchLimits& limits, const bench::SweepOptions& options, const bench::Peers& peers,
              const bench::Sweep& baseline, const bench::Sweep& sweep, BenchScreen* screen);

/// Throws an environment error or an internal error if a run failed, because the results are then incomplete.
void require_all_measured(const bench::Peers& peers, const bench::Sweep& sweep);

}  // namespace hone::cli
