// The regression gate: this sweep compared with an earlier one. It finds slower only what is proven to be:
// the whole interval of the ratio lies beyond the limit, and measuring again with fresh processes says the
// same. A ratio without an interval, for want of rounds, does not pass either.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/results/results.hpp"

namespace hone::bench {

struct GateRow {
  enum class Outcome {
    kWithin,     ///< not proven slower than the limit
    kRegressed,  ///< slower than the limit, in every measurement
    kFailed,     ///< measured in the baseline, failed now
    kUnknown,    ///< too few rounds, then or now, for an interval
    kAbsent,     ///< in the baseline, but not part of this sweep
  };
  Setup setup;
  Outcome outcome = Outcome::kWithin;
  base::Ratio ratio;      ///< p50 now over p50 then
  int confirmations = 0;  ///< measurements again after a suspicion
  std::string sentence;

  bool passed() const { return outcome == Outcome::kWithin || outcome == Outcome::kAbsent; }
};

struct Gate {
  std::vector<GateRow> rows;
  bool passed() const;
};

/// Measures one configuration again, with new processes.
using Remeasure = std::function<Run(const Setup&)>;

/// Environment error when the sweeps cannot be compared (another CPU or GPU; for the same configuration
/// another device, other threads or flags); usage error when they share no configuration. `now` needs no
/// samples, so that a sweep can be refused before it is measured; its GPU may be unknown by then.
void require_comparable(const Sweep& baseline, const Sweep& now);

/// `max_regression` 0.05 allows 5 %. Errors as of require_comparable.
Gate compare_with_baseline(const Sweep& baseline, const Sweep& now, double max_regression,
                           const Remeasure& remeasure);

/// "5%" or "0.05" as 0.05; usage error for anything else, a negative number, and a share of 1 or more.
double parse_share(const std::string& text);

}  // namespace hone::bench
