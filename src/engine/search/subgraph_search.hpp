// Searches tactics for the subgraphs of If, Loop and Scan, each as a separate network.
#pragma once

#include <memory>

#include "engine/builder.hpp"
#include "engine/search/search_budget.hpp"
#include "engine/search/timing_cache.hpp"

namespace hone::engine {

/// Adds the plans of the subgraphs' steps and the records of their search to the engine; `bound` is its graph
/// with concrete input shapes. Subgraphs with open input shapes, and those that do not fit into memory, use
/// the first tactics that accept.
void search_subgraphs(Engine& engine, const graph::Graph& bound, const Device& device,
                      const BuildOptions& options, TimingCache& cache, const SearchBudget& budget);

}  // namespace hone::engine
