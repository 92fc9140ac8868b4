// The summary of one run in the shape that trtexec users and their scripts know.
#pragma once

#include <string>
#include <vector>

#include "bench/results/run_record.hpp"

namespace hone::report {

/// Lines "Throughput: 57.1 qps", "Latency: min = …"; a query is one run of the whole batch.
std::vector<std::string> bench_summary(const bench::RunRecord& run);

}  // namespace hone::report
