// What needs a libtorch that was built with CUDA: cuda/ implements it, and without_cuda.cpp says so where
// there is none.
#pragma once

#include <memory>
#include <string_view>

#include "backend/torch/plugin/runner.hpp"

namespace hone::backend::aten {

/// Environment error when this libtorch was built without CUDA.
void require_cuda_build(std::string_view backend);
/// The device that the options name. Environment error when this libtorch or this machine has it not.
at::Device find_device(const LoadOptions& options, std::string_view backend);

/// Waits for all work of the current stream; nothing on the CPU.
void synchronize(at::Device device);
/// Gives memory that no tensor uses back to the device.
void release_cache(at::Device device);
/// Device memory that PyTorch's caching allocator holds, in bytes; 0 on the CPU.
int64_t held_bytes(at::Device device);

/// The calls of the eager runner captured in one CUDA graph, with inputs and outputs at fixed addresses.
/// Bad input when something in the model waits for the device, which a capture cannot hold.
std::unique_ptr<Runner> make_captured_runner(BoundGraph graph, const Placement& placement);

}  // namespace hone::backend::aten
