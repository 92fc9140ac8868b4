// Finds the fastest tactics, layout and batch group by timing them inside the running network.
#pragma once

#include <memory>
#include <vector>

#include "engine/builder.hpp"
#include "engine/search/search_budget.hpp"
#include "engine/search/timing_cache.hpp"

namespace hone::engine {

/// Fills in the layout, plans, micro_batch and log of an engine whose graph is complete. `bound` is this
/// graph with the shapes to tune for.
///
/// Every candidate of every step is timed in its real surroundings: whole networks with different choices of
/// candidates run in turns, and each step's own time is recorded. A challenger must beat the default's median
/// by 3 % and also its lower quartile, so that noise cannot win.
///
/// If the network cannot run with the generated inputs, nothing is timed; engine.not_timed gives the reason,
/// and the cache stores it for later builds that may time nothing. Bad input for impossible shapes that
/// overflow or exceed the limit for tensors.
///
/// The budget limits the search: if it is too short, the parts with the least expected gain are left out, the
/// affected steps are marked in the cache, and engine.cut_short describes them.
void search_tactics(Engine& engine, const std::shared_ptr<const graph::Graph>& bound, const Device& device,
                    const BuildOptions& options, TimingCache& cache, const SearchBudget& budget);

}  // namespace hone::engine
