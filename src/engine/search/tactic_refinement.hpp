// The second part of a tactic search, for devices on which steps overlap: a step's own time is not its cost
// in the network there, so the best candidates are tried again in whole networks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/search/search_budget.hpp"
#include "engine/search/tactic_trials.hpp"

namespace hone::engine {

/// Returns whether a tactic belongs to those that are only useful together.
using StartsEarly = std::function<bool(const TacticId& tactic)>;

/// Starts from the chosen tactics. First it uses the fastest early candidates in runs of adjacent steps, long
/// runs first, wherever that makes the network faster. Then, starting with the most expensive step, it tries
/// candidates that are nearly as fast as the chosen one. A trial also counts as faster if the network is
/// slightly faster and the differing steps, with those after them, are clearly faster. All this is repeated
/// as long as a round gains half a percent. Returns false if the time was over before that.
bool refine_choices(LayoutSearch& search, TacticTrials& trials, const StartsEarly& early,
                    const SearchBudget& budget, const SearchProgress& progress);

/// Repairs choices with which the network computes a wrong result, although each of them is right next to the
/// plans of `sound`, with which the network is right. It returns to `sound` and adds the choices again by
/// halves, without single choices that make the network wrong; these are refused with the reason. If the time
/// is over, the other steps keep their plans of `sound` and are marked as cut short.
void keep_what_agrees(LayoutSearch& search, const Plans& sound, TacticTrials& trials,
                      const SearchBudget& budget);

}  // namespace hone::engine
