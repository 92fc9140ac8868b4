// The functions of cuda.hpp that concern the device.
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <array>

#include "backend/torch/plugin/convert.hpp"
#include "backend/torch/plugin/cuda.hpp"
#include "tensor/place.hpp"

namespace hone::backend::aten {

void require_cuda_build(std::string_view) {}

at::Device find_device(const LoadOptions& options, std::string_view backend) {
  const tensor::Place place = tensor::parse_place(options.device);
  if (place.kind == tensor::PlaceKind::kCpu) return at::kCPU;
  const at::Device device(at::kCUDA, static_cast<at::DeviceIndex>(place.ordinal));
  try {
    if (const auto count = c10::cuda::device_count_ensure_non_zero(); place.ordinal >= count)
      fail_environment("this machine has {}", count == 1 ? "1 GPU, cuda:0" : fmt::format("{} GPUs", count));
    // Streams and events of this backend belong to the thread's GPU; a worker uses one GPU.
    c10::cuda::set_device(device.index());
    // This creates the context, so that its errors are reported here.
    at::zeros({1}, at::TensorOptions().device(device));
    synchronize(device);
  } catch (const std::exception& error) {
    fail_environment("the backend {} cannot use {}: {}", backend, options.device, message_line(error));
  }
  return device;
}

void synchronize(at::Device device) {
  if (device.is_cuda()) c10::cuda::getCurrentCUDAStream(device.index()).synchronize();
}

void release_cache(at::Device device) {
  if (device.is_cuda()) c10::cuda::CUDACachingAllocator::emptyCache();
}

int64_t held_bytes(at::Device device) {
  if (!device.is_cuda()) return 0;
  // Element 0 of a statistic is the sum over all pools.
  return c10::cuda::CUDACachingAllocator::getDeviceStats(device.index()).reserved_bytes[0].current;
}

std::string bus_id(at::Device device) {
  if (!device.is_cuda()) return {};
  std::array<char, 32> text{};
  C10_CUDA_CHECK(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device.index()));
  return text.data();
}

}  // namespace hone::backend::aten
