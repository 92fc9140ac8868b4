// The executor of programs on a GPU.
#pragma once

#include <memory>

#include "device/cuda/plugin/gpu.hpp"
#include "engine/program/executor.hpp"

namespace hone::device::cuda {

/// Runs the program on the GPU, which outlives it: memory, streams and the captured graph are its own. Every
/// call makes the GPU current and leaves the caller's as it was.
std::unique_ptr<engine::Executor> make_cuda_executor(const engine::Program& program, Gpu& gpu);

}  // namespace hone::device::cuda
