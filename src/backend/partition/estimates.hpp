// Times of nodes that nobody measured: a roofline of a common core, the same for every backend. It knows
// nothing of how good a backend is, so a stated assumption stands in for that: each backend of the list takes
// twice as long as the one before it. Marked as an estimate wherever it is shown.
#pragma once

#include <vector>

#include "backend/partition/costs.hpp"

namespace hone::backend::partition {

/// How many times as long a backend is assumed to take as the one before it in the list.
inline constexpr double kAssumedRatio = 2;

/// Microseconds of each node: the longer of its operations at 20 GFLOP/s a thread and its bytes at 10 GB/s,
/// and 1 us for calling it. Nodes whose shapes are not known cost the call.
std::vector<double> roofline_us(const graph::Graph& typed, int threads);

/// Microseconds to copy a byte, at 10 GB/s.
double copy_us_per_byte();

/// Microseconds to begin and end a block: 5.
double launch_us();

}  // namespace hone::backend::partition
