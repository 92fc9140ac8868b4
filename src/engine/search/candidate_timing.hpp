// First part of a tactic search: every candidate of every step is timed inside running networks.
#pragma once

#include "engine/search/search_budget.hpp"
#include "engine/search/tactic_candidates.hpp"
#include "engine/search/tactic_trials.hpp"

namespace hone::engine {

/// Runs whole networks, each with another candidate of every step, and keeps the time of each step. Refuses
/// candidates with which the network computes something else, or that cannot run, times the promising ones
/// `looks` times more, and chooses. Candidates for which the budget has no time are left out with a reason;
/// their steps are cut short. Returns plans with which the network computes what it should.
Plans time_candidates(LayoutSearch& search, TacticTrials& trials, int looks, const SearchBudget& budget,
                      const SearchProgress& progress);

}  // namespace hone::engine
