// Functions that need a libtorch built with CUDA. cuda/ implements them; without_cuda.cpp has versions for a
// libtorch without CUDA.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/torch/plugin/runner.hpp"

namespace hone::backend::aten {

/// Environment error if this libtorch was built without CUDA.
void require_cuda_build(std::string_view backend);
/// The device that the options name. Environment error if this libtorch or this machine does not have it.
at::Device find_device(const LoadOptions& options, std::string_view backend);

/// Waits for all work of the current stream; does nothing on the CPU.
void synchronize(at::Device device);
/// Returns memory that no tensor uses to the device.
void release_cache(at::Device device);
/// Bytes of device memory that PyTorch's caching allocator holds; 0 on the CPU.
int64_t held_bytes(at::Device device);
/// The bus id of the GPU ("0000:1B:00.0"); empty for the CPU.
std::string bus_id(at::Device device);

/// Overwrites twice the size of the GPU's L2 cache and waits for that; does nothing on the CPU.
void evict_caches(at::Device device);
/// Milliseconds by the GPU's clock between events before and after the work that `enqueue` submits to the
/// current stream. Waits for it. 0 on the CPU.
double time_between_events(at::Device device, const std::function<void()>& enqueue);
enum class Direction { kToDevice, kToHost };
/// Milliseconds by the GPU's clock for copies of these sizes
/// between pinned host memory and the device; 0 on the CPU.
double time_copies(at::Device device, std::span<const int64_t> sizes, Direction direction);

/// The element type in which output i is returned.
using OutputType = std::function<tensor::DType(size_t i, const at::Tensor& output)>;
/// Executable::make_pipeline() with runners that share the weights of this one; null without CUDA.
std::unique_ptr<Pipeline> make_stream_pipeline(const Runner& runner, int streams, bool transfers,
                                               std::span<const std::vector<tensor::Tensor>> sets,
                                               const OutputType& output_type);

/// Executable::bind() with a runner that shares the weights of this one; null without CUDA.
std::unique_ptr<BoundRuns> make_stream_runs(const Runner& runner, std::span<const tensor::TensorView> inputs,
                                            const DeviceExchange& exchange, const OutputType& output_type);

/// The calls of the eager runner captured in one CUDA graph, with inputs and outputs at fixed addresses. Bad
/// input if a part of the model waits for the device, which cannot be captured.
std::unique_ptr<Runner> make_captured_runner(BoundGraph graph, const Placement& placement);

}  // namespace hone::backend::aten
