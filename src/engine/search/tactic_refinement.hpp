// Second part of a tactic search, for devices on which steps overlap: there a step's own time is not what it
// costs the network, so the best candidates are tried again in whole networks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/search/search_budget.hpp"
#include "engine/search/tactic_trials.hpp"

namespace hone::engine {

/// Returns whether a tactic is of the kind that only pays together with others.
using StartsEarly = std::function<bool(const TacticId& tactic)>;

/// Starts from the chosen tactics. Takes the fastest early ones in runs of neighbouring steps, long ones
/// first, wherever the network is faster so; then tries, step by step from the costliest on, candidates that
/// are nearly as fast as the chosen one. A trial counts as faster, too, where the network is a little faster
/// and the steps that differ are faster beyond doubt, with those after them. All that again while a round
/// gains half a percent. False where the time was over before that.
bool refine_choices(LayoutSearch& search, TacticTrials& trials, const StartsEarly& early,
                    const SearchBudget& budget, const SearchProgress& progress);

/// Repairs choices with which the network does not compute what is expected, although each of them is right
/// next to the plans of `sound`, with which it is right: goes back to those and takes the choices again by
/// halves, leaving out single ones that make it wrong. These single choices are refused with the reason.
/// Where the time is over, the other steps keep their plans of `sound` and are cut short.
void keep_what_agrees(LayoutSearch& search, const Plans& sound, TacticTrials& trials,
                      const SearchBudget& budget);

}  // namespace hone::engine
