// The layers of benchmarked runs: one table for each run, and one CSV of all runs.
#pragma once

#include <string>

#include "bench/results/run_record.hpp"
#include "report/terminal/sheet.hpp"

namespace hone::report {

/// Layers in the order of the engine, with types and shapes of their inputs and outputs, and their times in
/// one run.
Sheet bench_layer_sheet(const bench::RunRecord& run);

/// CSV with a header and one line for each layer of each run. Times are in milliseconds.
std::string layers_csv(const bench::SweepRecord& sweep);

}  // namespace hone::report
