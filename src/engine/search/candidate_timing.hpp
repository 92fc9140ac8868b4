// The first part of a tactic search: times every candidate of every step inside running networks.
#pragma once

#include "engine/search/search_budget.hpp"
#include "engine/search/tactic_candidates.hpp"
#include "engine/search/tactic_trials.hpp"

namespace hone::engine {

/// Runs whole networks, each with another candidate of every step, and records the time of each step. Refuses
/// candidates with which the network computes a wrong result or cannot run, takes `looks` further samples of
/// the promising ones, and chooses. Candidates for which the budget has no time are left out with a reason,
/// and their steps are marked as cut short. Returns plans with which the network computes the right result.
Plans time_candidates(LayoutSearch& search, TacticTrials& trials, int looks, const SearchBudget& budget,
                      const SearchProgress& progress);

}  // namespace hone::engine
