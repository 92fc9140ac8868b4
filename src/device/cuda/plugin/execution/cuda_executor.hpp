// The executor of programs on a GPU.
#pragma once

#include <memory>

#include "device/cuda/plugin/kernels/common/device_properties.hpp"
#include "engine/program/executor.hpp"

namespace hone::device::cuda {

/// Runs the program on the device: memory, streams and the captured graph are its own. The properties outlive
/// it.
std::unique_ptr<engine::Executor> make_cuda_executor(const engine::Program& program,
                                                     const DeviceProperties& device);

}  // namespace hone::device::cuda
