// Requirements of `hone bench` on a finished sweep, and the exit codes of those that were not met.
#pragma once

#include <string>

#include "bench/sweep/sweep.hpp"
#include "cli/bench_screen.hpp"

namespace hone::cli {

struct BenchLimits {
  double max_error = 0;  ///< 0: none
  bool require_valid = false;
  std::string baseline;  ///< a result file; empty: none
  std::string max_regression = "5%";
};

/// Threshold error for a run beyond --max-error and, where asked, for one that is not VALID; environment
/// error where nothing was measured.
void judge_sweep(const BenchLimits& limits, const bench::Peers& peers, const bench::Sweep& sweep);

/// Threshold error for configurations that became slower than the baseline allows; suspects are measured
/// again.
void run_gate(const BenchLimits& limits, const bench::SweepOptions& options, const bench::Peers& peers,
              const bench::Sweep& baseline, const bench::Sweep& sweep, BenchScreen* screen);

/// Environment error, or a bug of ours, where a run failed: whoever asked for it has not got all.
void require_all_measured(const bench::Peers& peers, const bench::Sweep& sweep);

}  // namespace hone::cli
