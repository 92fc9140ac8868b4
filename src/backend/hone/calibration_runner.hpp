// Uses this project's engine on the CPU to run a graph while it is calibrated.
#pragma once

#include "quantize/runner.hpp"

namespace hone::backend {

/// Engines in fp32 that time nothing and take inputs of any size.
quantize::MakeRunner engine_runners(int threads);

}  // namespace hone::backend
