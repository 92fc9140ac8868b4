// Runs a graph on the CPU with this project's engine while it is calibrated.
#pragma once

#include "quantize/runner.hpp"

namespace hone::backend {

/// Makes engines in fp32 that time nothing and take inputs of any size.
quantize::MakeRunner engine_runners(int threads);

}  // namespace hone::backend
