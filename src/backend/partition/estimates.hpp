// Times of nodes that were not measured: the roofline of a typical core or GPU, the same for every backend.
// It does not model the quality of a backend, so each backend of the list is assumed to take twice as long as
// the one before it. These times are marked as estimates wherever they are shown.
#pragma once

#include <string_view>
#include <vector>

#include "backend/partition/costs.hpp"

namespace hone::backend::partition {

/// A backend is assumed to take this multiple of the time of the one before it in the list.
inline constexpr double kAssumedRatio = 2;

/// The assumed rates of a device.
struct Rates {
  double flops_per_us = 0;
  double bytes_per_us = 0;
  double call_us = 0;  ///< of each node
};

/// Assumes 20 GFLOP/s for each thread, 10 GB/s and 1 us for each node on a CPU; 100 TFLOP/s, 1 TB/s and 3 us
/// on a GPU. Usage errors are those of tensor::parse_place().
Rates rates_of(std::string_view device, int threads);

/// Microseconds of each node: the longer of the times for its operations and its bytes, plus the call. Nodes
/// with unknown shapes cost only the call.
std::vector<double> roofline_us(const graph::Graph& typed, const Rates& rates);

/// Microseconds to copy one byte, within the host's memory or between it and a GPU's, at 10 GB/s.
double copy_us_per_byte();

/// Microseconds to begin and end a block: 5.
double launch_us();

/// Microseconds of the host for a copy from a GPU, in addition to the time of its bytes: 10.
double wait_us();

}  // namespace hone::backend::partition
