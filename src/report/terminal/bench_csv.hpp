// Formats a sweep as CSV, with one line for each run.
#pragma once

#include <span>
#include <string>

#include "bench/results/run_record.hpp"

namespace hone::report {

/// CSV with a header. Percentiles are in percent. Cells are empty if a figure is unknown or has too few
/// samples. Times are in milliseconds, throughput in samples of the model per second.
std::string bench_csv(const bench::SweepRecord& sweep, std::span<const double> percentiles);

}  // namespace hone::report
