// A part of a tactic search, for engines whose steps may have several numeric policies.
#pragma once

#include <span>

#include "engine/search/search_budget.hpp"
#include "engine/search/tactic_candidates.hpp"
#include "engine/search/tactic_trials.hpp"

namespace hone::engine {

/// If steps are chosen one by one, conversions between their policies are not fully counted, because they
/// depend on the previous steps. Therefore, the network with these choices is compared with one network for
/// each single policy (a step without a candidate in the policy keeps its choice), and the choices of the
/// fastest network win. They must be 3 % faster than the network of the first policy, the engine's own. With
/// only one policy, nothing is done. If there is no time to check all these networks, the choices stay, and
/// the steps in which the networks differ are marked as cut short.
void choose_policies(LayoutSearch& search, std::span<const NumericPolicy> policies, TacticTrials& trials,
                     const SearchBudget& budget, const SearchProgress& progress);

}  // namespace hone::engine
