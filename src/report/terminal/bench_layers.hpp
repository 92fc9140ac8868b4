// The layers of benchmarked runs: a table for each run, and one CSV of all.
#pragma once

#include <string>

#include "bench/results/run_record.hpp"
#include "report/terminal/sheet.hpp"

namespace hone::report {

/// In the order of the engine, with types and shapes of each layer's inputs and outputs, and its time in one
/// run.
Sheet bench_layer_sheet(const bench::RunRecord& run);

/// The layers as CSV with a header; a line for each layer of each run that has any. Times are in
/// milliseconds.
std::string layers_csv(const bench::SweepRecord& sweep);

}  // namespace hone::report
