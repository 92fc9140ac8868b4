// The engine of this project as the clock for the layers of a graph.
#pragma once

#include <string>

#include "base/progress.hpp"
#include "quantize/layer_times.hpp"

namespace hone::backend {

/// Builds an engine for the device with tactics searched and times its steps; nullopt where the device is not
/// to be had.
quantize::TimeNodes node_timer(const std::string& device, int threads,
                               const std::function<void(const base::Progress&)>& progress);

}  // namespace hone::backend
