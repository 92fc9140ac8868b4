// A decoder whose caches stay on its device, run as in a benchmark: the same next token in every run.
#pragma once

#include <memory>

#include "backend/backend.hpp"
#include "engine/engine.hpp"
#include "engine/fixed_cache_runs.hpp"

namespace hone::backend {

/// Has the inputs and outputs of the model that grows its caches. Before a run, the tokens in the caches are
/// copied to caches of a fixed capacity, and every run appends its tokens to those.
std::unique_ptr<Executable> make_decoder_executable(std::shared_ptr<const engine::Engine> engine,
                                                    const engine::FixedCaches& caches,
                                                    const engine::Device& device, int threads);

}  // namespace hone::backend
