// Times of nodes that nobody measured: a roofline of a common core or GPU, the same for every backend. It
// knows nothing of how good a backend is, so a stated assumption stands in for that: each backend of the list
// takes twice as long as the one before it. Marked as an estimate wherever it is shown.
#pragma once

#include <string_view>
#include <vector>

#include "backend/partition/costs.hpp"

namespace hone::backend::partition {

/// How many times as long a backend is assumed to take as the one before it in the list.
inline constexpr double kAssumedRatio = 2;

/// The assumed rates of a place.
struct Rates {
  double flops_per_us = 0;
  double bytes_per_us = 0;
  double call_us = 0;  ///< of a node
};

/// The CPU is taken for 20 GFLOP/s a thread, 10 GB/s and 1 us a node; a GPU for 100 TFLOP/s, 1 TB/s and 3 us.
/// Usage error as tensor::parse_place has it.
Rates rates_of(std::string_view device, int threads);

/// Microseconds of each node: the longer of its operations and its bytes, and the call. Nodes whose shapes
/// are not known cost the call.
std::vector<double> roofline_us(const graph::Graph& typed, const Rates& rates);

/// Microseconds to copy a byte, within the host's memory or between it and a GPU's, at 10 GB/s.
double copy_us_per_byte();

/// Microseconds to begin and end a block: 5.
double launch_us();

/// Microseconds of the host for a copy from a GPU, bytes aside: 10.
double wait_us();

}  // namespace hone::backend::partition
