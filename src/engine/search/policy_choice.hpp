// Part of a tactic search, for engines whose steps may have several numeric policies.
#pragma once

#include <span>

#include "engine/search/search_budget.hpp"
#include "engine/search/tactic_candidates.hpp"
#include "engine/search/tactic_trials.hpp"

namespace hone::engine {

/// Steps that are chosen one by one do not see all that their policies cost the network: what a step converts
/// its operands from depends on the steps before it. So the network of these choices is timed next to one
/// network for each single policy (where a step has no candidate in it, its choice stays), and the fastest
/// one's choices are taken; that of the first policy, the engine's own, has to be beaten by 3 %. Nothing for
/// one policy. Where there is no time to check all these networks, the choices stay, and the steps about
/// which the networks differ are cut short.
void choose_policies(LayoutSearch& search, std::span<const NumericPolicy> policies, TacticTrials& trials,
                     const SearchBudget& budget, const SearchProgress& progress);

}  // namespace hone::engine
