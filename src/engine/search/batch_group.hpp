// Last part of a tactic search, for devices on which images of a batch may go through the network in groups:
// a group's tensors stay in the caches, and the steps of a larger one cost less for each image.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "engine/engine.hpp"
#include "engine/kernel.hpp"
#include "engine/search/search_budget.hpp"
#include "engine/search/timing_cache.hpp"

namespace hone::engine {

struct BatchGroups {
  int64_t chosen = 0;  ///< images that go through the network together; 0 is the whole batch
  std::map<int64_t, TimingEntry::Time> times;
  bool cut_short = false;  ///< there was no time for some groups
};

/// Does it, and says whether there was room for it.
using FitsRoom = std::function<bool(const std::function<void()>& action)>;

/// Runs the engine with the whole batch, and in groups of 1, 2, 4 … images; a group has to be 3 % faster than
/// the fastest before it. None where not even one of them fits. The whole batch is timed whatever the budget.
std::optional<BatchGroups> time_batch_groups(const Engine& engine, const Device& device,
                                             const std::vector<tensor::Tensor>& inputs, int64_t batch,
                                             const FitsRoom& fits, const SearchBudget& budget);

}  // namespace hone::engine
