// See executor.cpp.
#pragma once

#include <memory>

#include "engine/program/executor.hpp"

namespace hone::device::cuda {

/// Runs the program on the device: memory, streams and the captured graph are its own.
std::unique_ptr<engine::Executor> make_cuda_executor(const engine::Program& program);

}  // namespace hone::device::cuda
