// Searches tactics for the subgraphs of If, Loop and Scan, each as a network of its own.
#pragma once

#include <memory>

#include "engine/builder.hpp"
#include "engine/search/search_budget.hpp"
#include "engine/search/timing_cache.hpp"

namespace hone::engine {

/// Adds to the engine the plans of its subgraphs' steps and the log of their search; `bound` is its graph
/// with concrete input shapes. Subgraphs whose inputs have open shapes, and those that do not fit, are left
/// to the first tactics that accept.
void search_subgraphs(Engine& engine, const graph::Graph& bound, const Device& device,
                      const BuildOptions& options, TimingCache& cache, const SearchBudget& budget);

}  // namespace hone::engine
