// Why runs of a sweep are INVALID, in a few lines for all of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/results/run_record.hpp"

namespace hone::report {

/// One line for each kind of reason: how many runs it is said of, the reason with the range of its numbers,
/// and what helps. Runs that failed are not among them.
std::vector<std::string> verdict_notes(std::span<const bench::RunRecord> runs);

}  // namespace hone::report
