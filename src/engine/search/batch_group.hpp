// The last part of a tactic search, for devices on which a batch may be split into groups of images: a small
// group's tensors stay in the caches, but the steps of a larger group cost less for each image.
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
  int64_t chosen = 0;  ///< number of images that run through the network together; 0 is the whole batch
  std::map<int64_t, TimingEntry::Time> times;
  bool cut_short = false;  ///< there was no time for some groups
};

/// Runs the action, and returns whether there was enough memory for it.
using FitsRoom = std::function<bool(const std::function<void()>& action)>;

/// Times the engine with the whole batch, and in groups of 1, 2, 4 … images. A group must be 3 % faster than
/// the fastest one before it. Returns nothing if not even one of them fits into memory. The whole batch is
/// timed whatever the budget is.
std::optional<BatchGroups> time_batch_groups(const Engine& engine, const Device& device,
                                             const std::vector<tensor::Tensor>& inputs, int64_t batch,
                                             const FitsRoom& fits, const SearchBudget& budget);

}  // namespace hone::engine
