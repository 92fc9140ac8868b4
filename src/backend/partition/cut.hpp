// Labels that minimise time: the time of every node on the backend that it gets, and of every value that
// crosses.
//
// For two backends this is a smallest cut (Greig, Porteous and Seheult 1989; Kolmogorov and Zabih 2004) and
// exact, to a picosecond: no labels have a lower sum. Blocks cost more than that sum says, since one that is
// begun has a launch, and convexity may split labels into more blocks than there are changes; so the smallest
// sum is a bound, not always a partition. For three and more backends it is alpha-expansion (Boykov, Veksler
// and Zabih 2001): each step is such a cut, the end is a local optimum.
#pragma once

#include "backend/partition/costs.hpp"

namespace hone::backend::partition {

struct Cut {
  Labels labels;
  /// A lower bound on the cost of any labels, microseconds: the cost of these for two backends, else the sum
  /// of each node's fastest backend.
  double bound_us = 0;
};

/// `launch_share`: how much of a launch each crossing is charged with; bound_us is a bound for 0 only. Every
/// node needs a backend that takes it.
Cut cut_labels(const Wiring& wiring, const Costs& costs, double launch_share);

}  // namespace hone::backend::partition
