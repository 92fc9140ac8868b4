// Explains in a few lines why runs of a sweep are INVALID.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/results/run_record.hpp"

namespace hone::report {

/// One line for each kind of reason: the number of runs, the reason with the range of its numbers, and a
/// remedy. Failed runs are excluded.
std::vector<std::string> verdict_notes(std::span<const bench::RunRecord> runs);

}  // namespace hone::report
