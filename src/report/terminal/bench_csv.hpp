// A sweep as CSV, a line a run.
#pragma once

#include <span>
#include <string>

#include "bench/results/run_record.hpp"

namespace hone::report {

/// The table as CSV with a header. Percentiles are in percent; cells of unknown figures, or of figures with
/// too few samples, are empty. Times are in milliseconds, throughput in samples of the model per second.
std::string bench_csv(const bench::SweepRecord& sweep, std::span<const double> percentiles);

}  // namespace hone::report
