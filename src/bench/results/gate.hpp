// The regression gate: compares this sweep with an earlier one. A configuration counts as slower only if that
// is proven: the whole interval of the ratio is beyond the limit, and repeated measurements in new processes
// agree. A ratio without an interval, because of too few rounds, does not pass either.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/results/results.hpp"

namespace hone::bench {

struct GateRow {
  enum class Outcome {
    kWithin,     ///< not proven to be slower than the limit
    kRegressed,  ///< slower than the limit, in every measurement
    kFailed,     ///< measured in the baseline, but failed now
    kUnknown,    ///< too few rounds for an interval, in the baseline or now
    kAbsent,     ///< in the baseline, but not part of this sweep
  };
  Setup setup;
  Outcome outcome = Outcome::kWithin;
  base::Ratio ratio;      ///< p50 now divided by p50 in the baseline
  int confirmations = 0;  ///< number of repeated measurements after a suspicion
  std::string sentence;

  bool passed() const { return outcome == Outcome::kWithin || outcome == Outcome::kAbsent; }
};

struct Gate {
  std::vector<GateRow> rows;
  bool passed() const;
};

/// Measures one configuration again in new processes.
using Remeasure = std::function<Run(const Setup&)>;

/// Environment error if the sweeps cannot be compared (another CPU or GPU; for the same configuration another
/// device, another number of threads or other options). Usage error if they have no configuration in common.
/// `now` needs no samples, so that a sweep can be refused before it is measured; its GPU may be unknown at
/// this point.
void require_comparable(const Sweep& baseline, const Sweep& now);

/// `max_regression` 0.05 allows 5 %. Throws the errors of require_comparable.
Gate compare_with_baseline(const Sweep& baseline, const Sweep& now, double max_regression,
                           const Remeasure& remeasure);

/// Parses "5%" or "0.05" as 0.05. Usage error for anything else, for a negative number, and for a share of at
/// least 1.
double parse_share(const std::string& text);

}  // namespace hone::bench
