// Which tactic, layout and batch group are fastest, found by timing them inside the running network.
#pragma once

#include <memory>
#include <vector>

#include "engine/builder.hpp"
#include "engine/search/search_budget.hpp"
#include "engine/search/timing_cache.hpp"

namespace hone::engine {

/// Fills in layout, plans, micro_batch and log of an engine whose graph is done. `bound` is that graph with
/// the shapes to tune for.
///
/// Every candidate of every step is timed in its real surroundings: whole networks run, each with another
/// choice of candidates, in turn, and each step's own time is kept. A challenger must beat the default's
/// median by 3 % and its lower quartile too, so that noise wins nothing.
///
/// Where the inputs that were made up cannot be run with, nothing is timed; engine.not_timed says why, and
/// the cache does to a later build that may time nothing. Bad input when the shapes are impossible: they
/// overflow, or pass the limit for tensors.
///
/// The budget bounds it: where it does not suffice, what is likely to win least is left out, the steps it is
/// about are marked in the cache, and engine.cut_short says how much it is.
void search_tactics(Engine& engine, const std::shared_ptr<const graph::Graph>& bound, const Device& device,
                    const BuildOptions& options, TimingCache& cache, const SearchBudget& budget);

}  // namespace hone::engine
