// Launches with clusters and programmatic dependence. See gemm_launch.hpp.
#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <utility>

#include "device/cuda/plugin/kernels/common/kernel_stamp.hpp"

namespace hone::device::cuda {
namespace {

/// Kernels for 9.0a alone are empty in other architectures' code.
#ifdef HONE_COMPILED_FOR_HOPPER
constexpr bool kCompiledForHopper = true;
#else
constexpr bool kCompiledForHopper = false;
#endif

/// The same for every configuration: what a launch needs is not what an earlier, captured one needs, and a
/// multiprocessor must be idle to change its split between cache and shared memory, so that kernels which
/// prefer different splits could not overlap.
cudaError_t prepare(const GemmLaunch& launch, const DeviceLimits& limits) {
  constexpr int kPortableCluster = 8;
  const std::pair<cudaFuncAttribute, int> attributes[] = {
      {cudaFuncAttributeMaxDynamicSharedMemorySize, limits.shared_memory},
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

/// How a launch is configured. The attributes are its own, so that it stays where it is made.
struct Configured {
  cudaLaunchAttribute attributes[2];
  cudaLaunchConfig_t config{};

  Configured(const GemmLaunch& launch, cudaStream_t stream) {
    config.gridDim = dim3(static_cast<unsigned>(launch.blocks));
    config.blockDim = dim3(static_cast<unsigned>(launch.threads));
    config.dynamicSmemBytes = static_cast<size_t>(launch.shared_bytes);
    config.stream = stream;
    config.attrs = attributes;
    if (launch.cluster > 1) {
      attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
      attributes[config.numAttrs].val.clusterDim.x = static_cast<unsigned>(launch.cluster);
      attributes[config.numAttrs].val.clusterDim.y = 1;
      attributes[config.numAttrs].val.clusterDim.z = 1;
      ++config.numAttrs;
    }
    if (launch.pdl) {
      attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attributes[config.numAttrs].val.programmaticStreamSerializationAllowed = 1;
      ++config.numAttrs;
    }
  }
  Configured(const Configured&) = delete;
  Configured& operator=(const Configured&) = delete;
};

}  // namespace

cudaError_t device_limits(DeviceLimits& limits) {
  int device = 0;
  int major = 0;
  int minor = 0;
  if (const cudaError_t error = cudaGetDevice(&device); error != cudaSuccess) return error;
  const std::pair<cudaDeviceAttr, int*> wanted[] = {
      {cudaDevAttrMultiProcessorCount, &limits.multiprocessors},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, &limits.shared_memory},
      {cudaDevAttrComputeCapabilityMajor, &major},
      {cudaDevAttrComputeCapabilityMinor, &minor}};
  for (const auto& [attribute, value] : wanted) {
    if (const cudaError_t error = cudaDeviceGetAttribute(value, attribute, device); error != cudaSuccess)
      return error;
  }
  constexpr int kAmpere = 8;
  constexpr int kHopper = 9;
  limits.async_copies = major >= kAmpere;
  limits.clusters = major >= kHopper;
  limits.warpgroups = kCompiledForHopper && major == kHopper && minor == 0;
  return cudaSuccess;
}

cudaError_t resident_blocks(const GemmLaunch& launch, const DeviceLimits& limits, int64_t& blocks) {
  if (const cudaError_t error = prepare(launch, limits); error != cudaSuccess) return error;
  int device = 0;
  int processors = 0;
  int of_one = 0;
  if (const cudaError_t error = cudaGetDevice(&device); error != cudaSuccess) return error;
  cudaError_t error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  if (error != cudaSuccess) return error;
  error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_one, launch.function, launch.threads,
                                                        static_cast<size_t>(launch.shared_bytes));
  blocks = int64_t{processors} * of_one;
  return error;
}

cudaError_t resident_clusters(const GemmLaunch& launch, const DeviceLimits& limits, int64_t& clusters) {
  if (const cudaError_t error = prepare(launch, limits); error != cudaSuccess) return error;
  GemmLaunch one = launch;
  one.blocks = launch.cluster;
  const Configured configured(one, nullptr);
  int count = 0;
  const cudaError_t error = cudaOccupancyMaxActiveClusters(&count, launch.function, &configured.config);
  clusters = count;
  return error;
}

cudaError_t launch_gemm(const GemmLaunch& launch, const DeviceLimits& limits, const void* params,
                        cudaStream_t stream) {
  if (const cudaError_t error = prepare(launch, limits); error != cudaSuccess) return error;
  const Configured configured(launch, stream);
  KernelStamp* stamp = next_stamp();
  void* arguments[] = {const_cast<void*>(params), &stamp};
  return cudaLaunchKernelExC(&configured.config, launch.function, arguments);
}

cudaError_t launch_resident_tiles(GemmLaunch launch, const DeviceLimits& limits, int64_t tiles_m,
                                  int64_t tiles_n, const void* params, cudaStream_t stream) {
  int64_t resident = 0;
  if (const cudaError_t error = resident_blocks(launch, limits, resident); error != cudaSuccess) return error;
  launch.blocks = std::min(tiles_m, std::max<int64_t>(1, resident / tiles_n)) * tiles_n;
  return launch_gemm(launch, limits, params, stream);
}

}  // namespace hone::device::cuda
