// The functions of CUDA's runtime that launchers call, and what tests say of launches.
#include "device/cuda/emulator/device_functions.hpp"

#include <map>
#include <string_view>
#include <utility>

#include "device/cuda/emulator/context_runtime.hpp"
#include "device/cuda/emulator/machine.hpp"
#include "device/cuda/emulator/tensor_map.hpp"
#include "device/cuda/plugin/kernels/common/kernel_address.hpp"

namespace hone::device::cuda::emulator {
namespace {

constexpr int kBlockSharedBytes = 232448;

struct Runtime {
  std::map<const void*, Kernel> kernels;
  DeviceProperties device;
  std::string faults;
};

Runtime& runtime() {
  static Runtime state;
  return state;
}

/// In blocks; 1 where the launch says nothing.
int cluster_of(const cudaLaunchConfig_t& config) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    if (config.attrs[i].id == cudaLaunchAttributeClusterDimension)
      return static_cast<int>(config.attrs[i].val.clusterDim.x);
  }
  return 1;
}

cudaError_t launch(const cudaLaunchConfig_t& config, const void* function, void** arguments) {
  const auto found = runtime().kernels.find(function);
  const int cluster = cluster_of(config);
  if (found == runtime().kernels.end() || config.gridDim.x % cluster != 0 ||
      config.blockDim.x % kWarpThreads != 0 || config.blockDim.x > 1024 ||
      config.dynamicSmemBytes > kBlockSharedBytes || cluster > kMostBlocks)
    return cudaErrorInvalidConfiguration;
  gridDim = config.gridDim;
  blockDim = config.blockDim;
  try {
    for (unsigned first = 0; first < config.gridDim.x; first += cluster) {
      Machine::get().run_cluster([&] { found->second(arguments); }, static_cast<int>(first), cluster,
                                 static_cast<int>(config.blockDim.x), config.dynamicSmemBytes);
    }
  } catch (const Fault& fault) {
    runtime().faults += std::string(fault.what()) + "\n";
    return cudaErrorLaunchFailure;
  }
  return cudaSuccess;
}

}  // namespace

void add_kernel(const void* address, Kernel kernel) { runtime().kernels[address] = std::move(kernel); }
void set_schedule(const Schedule& schedule) { Machine::get().set_schedule(schedule); }
void set_multiprocessors(int count) {
  DeviceProperties& device = runtime().device;
  device.multiprocessors = count;
  for (size_t i = 0; i < device.clusters_of.size(); ++i) device.clusters_of[i] = count >> (i + 1);
}
const DeviceProperties& properties() { return runtime().device; }

void busy_ahead(const void* memory, size_t bytes) {
  Machine::get().forget_busy();
  also_busy_ahead(memory, bytes);
}
void also_busy_ahead(const void* memory, size_t bytes) {
  if (bytes != 0) Machine::get().add_busy(memory, bytes);
}

std::string take_faults() { return std::exchange(runtime().faults, {}); }

}  // namespace hone::device::cuda::emulator

using namespace hone::device::cuda::emulator;

extern "C" {

cudaError_t cudaFuncSetAttribute(const void* /*function*/, cudaFuncAttribute /*attribute*/, int /*value*/) {
  return cudaSuccess;
}

/// By shared memory and threads: registers are not known.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* /*function*/, int threads,
                                                          size_t shared_bytes) {
  constexpr size_t kReserved = 1024;
  constexpr int kThreads = 2048;
  *blocks = std::min(static_cast<int>((kBlockSharedBytes + kReserved) / (shared_bytes + kReserved)),
                     kThreads / threads);
  return cudaSuccess;
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  return launch(*config, function, arguments);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** address, unsigned /*version*/,
                                             unsigned long long /*flags*/,
                                             cudaDriverEntryPointQueryResult* result) {
  *result = cudaDriverEntryPointSuccess;
  if (symbol == std::string_view("cuTensorMapEncodeTiled")) {
    *address = reinterpret_cast<void*>(&encode_tiled);
  } else if (symbol == std::string_view("cuTensorMapEncodeIm2col")) {
    *address = reinterpret_cast<void*>(&encode_im2col);
  } else {
    *address = context_function(symbol);
    if (*address == nullptr) *result = cudaDriverEntryPointSymbolNotFound;
  }
  return cudaSuccess;
}

}  // extern "C"
