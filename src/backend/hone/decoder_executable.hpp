// A decoder whose caches stay where it computes, as a benchmark runs it: the same next token again and again.
#pragma once

#include <memory>

#include "backend/backend.hpp"
#include "engine/engine.hpp"
#include "engine/fixed_cache_runs.hpp"

namespace hone::backend {

/// Takes the inputs of the model that grows its caches and gives its outputs; the caches' tokens are moved to
/// caches of a fixed capacity before a run, and every run appends its tokens to these.
std::unique_ptr<Executable> make_decoder_executable(std::shared_ptr<const engine::Engine> engine,
                                                    const engine::FixedCaches& caches,
                                                    const engine::Device& device, int threads);

}  // namespace hone::backend
