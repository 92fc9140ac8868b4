// The summary of one run in the format of trtexec, for its users and their scripts.
#pragma once

#include <string>
#include <vector>

#include "bench/results/run_record.hpp"

namespace hone::report {

/// Lines such as "Throughput: 57.1 qps" and "Latency: min = …"; a query is one run of the whole batch.
std::vector<std::string> bench_summary(const bench::RunRecord& run);

}  // namespace hone::report
