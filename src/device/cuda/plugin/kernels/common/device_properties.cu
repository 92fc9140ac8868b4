// Asks the driver what a GPU can do.
#include "device/cuda/plugin/kernels/common/device_properties.hpp"

#include <utility>

#include "device/cuda/plugin/kernels/common/kernel_address.hpp"

namespace hone::device::cuda {
namespace {

/// One of its blocks takes all shared memory of a multiprocessor, so that no other block runs there.
__global__ void fill_multiprocessor() {}

/// The clusters that fit depend on how multiprocessors are grouped, which only the driver knows.
cudaError_t count_clusters(DeviceProperties& device) {
  const void* const kernel = kernel_address(&fill_multiprocessor);
  for (const auto& [attribute, value] :
       {std::pair(cudaFuncAttributeMaxDynamicSharedMemorySize, device.shared_memory),
        std::pair(cudaFuncAttributeNonPortableClusterSizeAllowed, 1)}) {
    if (const cudaError_t error = cudaFuncSetAttribute(kernel, attribute, value); error != cudaSuccess)
      return error;
  }
  unsigned blocks = 2;
  for (int& count : device.clusters_of) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {blocks, 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(128);
    config.dynamicSmemBytes = static_cast<size_t>(device.shared_memory);
    config.attrs = &attribute;
    config.numAttrs = 1;
    if (cudaOccupancyMaxActiveClusters(&count, kernel, &config) != cudaSuccess) {
      (void)cudaGetLastError();  // the error means that there is no room; clear it
      count = 0;
    }
    blocks *= 2;
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t find_device_properties(int ordinal, DeviceProperties& device) {
  cudaDeviceProp found{};
  if (const cudaError_t error = cudaGetDeviceProperties(&found, ordinal); error != cudaSuccess) return error;
  device.ordinal = ordinal;
  device.name = found.name;
  device.major = found.major;
  device.minor = found.minor;
  device.multiprocessors = found.multiProcessorCount;
  device.shared_memory = static_cast<int>(found.sharedMemPerBlockOptin);
  device.l2_bytes = found.l2CacheSize;
  set_capabilities(device);
  return device.clusters ? count_clusters(device) : cudaSuccess;
}

}  // namespace hone::device::cuda
