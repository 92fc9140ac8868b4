// The implementation of a sequence of the public API, for the engine that makes it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/one_user.hpp"
#include "engine/carried_state.hpp"
#include "engine/context.hpp"
#include "engine/fixed_cache_runs.hpp"
#include "hone/sequence.hpp"

namespace hone {

struct Sequence::State {
  State(const std::shared_ptr<engine::LoadedEngine>& loaded, const std::vector<TensorInfo>& all_inputs,
        const std::vector<TensorInfo>& all_outputs, const std::vector<std::string>& bind);

  engine::Context context;
  api::OneUser user;
  /// Null if the engine's caches have a fixed capacity.
  std::unique_ptr<engine::CarriedRuns> carried;
  /// Else null.
  std::unique_ptr<engine::FixedCacheRuns> fixed;
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;

  bool is_bound_input(size_t input) const;
  bool is_bound_output(size_t output) const;
  /// The place of a bound input among all of them; usage error for another name, and for fixed caches.
  size_t bound_input(const std::string& name) const;
};

}  // namespace hone
