// Parts of a run's entry in the result file: times, and what only a device has.
#pragma once

#include <vector>

#include "base/json.hpp"
#include "bench/run.hpp"

namespace hone::bench {

/// Bytes as megabytes; null for none.
Json megabytes(int64_t bytes);

/// Summary of times in milliseconds; every figure null when there are none.
Json times_json(const std::vector<double>& times);
/// The same for a part of runs: null when it was not measured or is nothing but zeros.
Json phase_json(const std::vector<double>& times);
Json pipelined_json(const Run& run);
Json device_memory_json(const Run& run);
Json growth_json(const Run& run);

}  // namespace hone::bench
