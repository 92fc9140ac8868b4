// Labels that minimise the sum of times: of every node on its backend, and of every value that crosses
// between backends.
//
// For two backends this is a minimum cut (Greig, Porteous and Seheult 1989; Kolmogorov and Zabih 2004). It is
// exact to a picosecond: no labels have a lower sum. Blocks cost more than that sum, since each block has a
// launch, and convexity may divide labels into more blocks than there are changes. The minimum is therefore a
// bound that some partitions cannot reach. For three or more backends it is alpha-expansion (Boykov, Veksler
// and Zabih 2001): each step is such a cut, and the result is a local optimum.
#pragma once

#include "backend/partition/costs.hpp"

namespace hone::backend::partition {

struct Cut {
  Labels labels;
  /// A lower bound on the cost of any labels, in microseconds: for two backends the cost of these labels,
  /// otherwise the sum of each node's time on its fastest backend.
  double bound_us = 0;
};

/// `launch_share` is the part of a launch that is charged to each crossing; bound_us is a bound only if it is
/// 0. Every node needs a backend that accepts it.
Cut cut_labels(const Wiring& wiring, const Costs& costs, double launch_share);

}  // namespace hone::backend::partition
