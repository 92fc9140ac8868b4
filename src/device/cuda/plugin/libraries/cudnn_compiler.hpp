// Compiling cuDNN's plans of convolutions, also ahead.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/cuda/plugin/libraries/cudnn.hpp"
#include "engine/kernel.hpp"

namespace hone::device::cuda {

/// Starts compiling configurations in the background, unless that has been asked for before.
engine::Preparation start_compiling(const CudnnConvolution& convolution,
                                    const std::vector<std::string>& configs);

/// The plan, kept while anybody holds it, and for long after; waits for it. Environment error when cuDNN
/// refuses the configuration.
std::shared_ptr<const CudnnPlan> compiled_plan(const CudnnConvolution& convolution, std::string_view config);

}  // namespace hone::device::cuda
