// Launches with clusters and programmatic dependence. See gemm_launch.hpp.
#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <utility>

namespace hone::device::cuda {
namespace {

/// The settings are the same for every configuration, for two reasons. The settings of an earlier, captured
/// launch must stay valid. A multiprocessor must be idle to change its split between cache and shared memory,
/// so kernels with different splits could not overlap.
cudaError_t prepare(const GemmLaunch& launch, const DeviceProperties& device) {
  constexpr int kPortableCluster = 8;
  const std::pair<cudaFuncAttribute, int> attributes[] = {
      {cudaFuncAttributeMaxDynamicSharedMemorySize, device.shared_memory},
      {cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared},
      {cudaFuncAttributeNonPortableClusterSizeAllowed, 1}};
  for (const auto& [attribute, value] : attributes) {
    if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed && launch.cluster <= kPortableCluster)
      continue;
    if (const cudaError_t error = cudaFuncSetAttribute(launch.function, attribute, value);
        error != cudaSuccess)
      return error;
  }
  return cudaSuccess;
}

/// The configuration of a launch. It must not be moved or
/// copied, since `config` points to its own attributes.
struct Configured {
  cudaLaunchAttribute attributes[2];
  cudaLaunchConfig_t config{};

  Configured(const GemmLaunch& launch, const LaunchOptions& options) {
    config.gridDim = dim3(static_cast<unsigned>(launch.blocks));
    config.blockDim = dim3(static_cast<unsigned>(launch.threads));
    config.dynamicSmemBytes = static_cast<size_t>(launch.shared_bytes);
    config.stream = options.stream;
    config.attrs = attributes;
    if (launch.cluster > 1) {
      attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
      attributes[config.numAttrs].val.clusterDim.x = static_cast<unsigned>(launch.cluster);
      attributes[config.numAttrs].val.clusterDim.y = 1;
      attributes[config.numAttrs].val.clusterDim.z = 1;
      ++config.numAttrs;
    }
    if (options.pdl) {
      attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attributes[config.numAttrs].val.programmaticStreamSerializationAllowed = 1;
      ++config.numAttrs;
    }
  }
  Configured(const Configured&) = delete;
  Configured& operator=(const Configured&) = delete;
};

}  // namespace

cudaError_t resident_blocks(const GemmLaunch& launch, const DeviceProperties& device, int64_t& blocks) {
  if (const cudaError_t error = prepare(launch, device); error != cudaSuccess) return error;
  int of_one = 0;
  const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &of_one, launch.function, launch.threads, static_cast<size_t>(launch.shared_bytes));
  blocks = int64_t{device.multiprocessors} * of_one;
  return error;
}

cudaError_t launch_gemm(const GemmLaunch& launch, const void* params, const LaunchOptions& options) {
  if (const cudaError_t error = prepare(launch, *options.device); error != cudaSuccess) return error;
  const Configured configured(launch, options);
  KernelStamp* stamp = next_stamp(options);
  void* arguments[] = {const_cast<void*>(params), &stamp};
  return cudaLaunchKernelExC(&configured.config, launch.function, arguments);
}

cudaError_t launch_resident_tiles(GemmLaunch launch, int64_t tiles_m, int64_t tiles_n, const void* params,
                                  const LaunchOptions& options) {
  int64_t resident = 0;
  if (const cudaError_t error = resident_blocks(launch, *options.device, resident); error != cudaSuccess)
    return error;
  launch.blocks = std::min(tiles_m, std::max<int64_t>(1, resident / tiles_n)) * tiles_n;
  return launch_gemm(launch, params, options);
}

}  // namespace hone::device::cuda
