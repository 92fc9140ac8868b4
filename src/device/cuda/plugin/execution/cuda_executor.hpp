// The executor of programs on a GPU.
#pragma once

#include <memory>

#include "device/cuda/plugin/gpu.hpp"
#include "engine/program/executor.hpp"

namespace hone::device::cuda {

/// Runs the program on the GPU, which must outlive it. It has its own memory, streams and captured graph.
/// Every call makes the GPU current, and restores the caller's GPU afterwards.
std::unique_ptr<engine::Executor> make_cuda_executor(const engine::Program& program, Gpu& gpu);

}  // namespace hone::device::cuda
