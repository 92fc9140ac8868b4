// Notes below a figure of benchmark results: failures, INVALID runs, omissions and their reasons.
#pragma once

#include <string>
#include <vector>

#include "report/plot/sweep_groups.hpp"

namespace hone::report {

/// Notes about failures and omissions, for figures whose rows mark INVALID runs themselves.
std::vector<std::string> notes_without_verdicts(const SweepGroup& group);
/// The above, and which runs are INVALID, for figures with markers.
std::vector<std::string> sweep_notes(const SweepGroup& group);
/// The above, and the ends of error bars that cannot end at p99.
std::vector<std::string> latency_notes(const SweepGroup& group);
/// The above, and which speedups show no difference, have no interval, or were not interleaved.
std::vector<std::string> speedup_notes(const SweepGroup& group);

/// "a, b, c and 4 more".
std::string listed(const std::vector<std::string>& names, size_t most);

}  // namespace hone::report
