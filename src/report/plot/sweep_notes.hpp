// Notes below a figure of benchmark results: failures, INVALID runs, omissions and their reasons.
#pragma once

#include <string>
#include <vector>

#include "report/plot/sweep_groups.hpp"

namespace hone::report {

/// Failures and what was left out, for figures whose rows say themselves which runs are INVALID.
std::vector<std::string> notes_without_verdicts(const SweepGroup& group);
/// These, and which runs are INVALID: of every figure with markers.
std::vector<std::string> sweep_notes(const SweepGroup& group);
/// These, and where bars end that cannot end at p99.
std::vector<std::string> latency_notes(const SweepGroup& group);
/// These, and which speedups are no difference, have no interval, or were not interleaved.
std::vector<std::string> speedup_notes(const SweepGroup& group);

/// "a, b, c and 4 more".
std::string listed(const std::vector<std::string>& names, size_t most);

}  // namespace hone::report
