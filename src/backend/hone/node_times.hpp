// Measures the times of a graph's layers with this project's engine.
#pragma once

#include <string>

#include "base/progress.hpp"
#include "quantize/layer_times.hpp"

namespace hone::backend {

/// Builds an engine for the device with a search of tactics,
/// and times its steps; nullopt if the device is not available.
quantize::TimeNodes node_timer(const std::string& device, int threads,
                               const std::function<void(const base::Progress&)>& progress);

}  // namespace hone::backend
