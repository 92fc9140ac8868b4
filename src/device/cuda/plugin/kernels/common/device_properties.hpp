// The properties of a GPU. They are read once and passed on; configurations,
// refusals and launches depend on them. No other code asks the driver, so
// the code that uses them also works for a GPU that is absent.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <string>

namespace hone::device::cuda {

/// Properties of a GPU; the defaults are those of an H200.
struct DeviceProperties {
  int multiprocessors = 132;
  int shared_memory = 232448;         ///< most bytes that one block can have
  bool async_copies = true;           ///< compute capability 8.0 and later, which also has mma of 16 x 8 x 16
  bool clusters = true;               ///< 9.0 and later
  bool warpgroups = true;             ///< 9.0 only, with kernels compiled for it
  bool programmatic_launches = true;  ///< 9.0 and later
  int ordinal = 0;                    ///< its number among the visible GPUs
  int major = 9;                      ///< compute capability
  int minor = 0;
  int64_t l2_bytes = int64_t{60} << 20;
  std::string name = "NVIDIA H200";
  /// The numbers of clusters of 2, 4, 8 and 16 blocks that the GPU
  /// holds at once if each block takes a whole multiprocessor.
  std::array<int, 4> clusters_of = {66, 32, 16, 8};

  int architecture() const { return 10 * major + minor; }
  /// The number of clusters of `blocks` blocks, a power of
  /// two up to 16, that run at once; 0 if not even one fits.
  int clusters_at_once(int blocks) const;
};

/// Asks the driver. Returns the CUDA error if it fails, otherwise cudaSuccess.
cudaError_t find_device_properties(int ordinal, DeviceProperties& device);

/// Sets the capabilities that follow from the compute capability and from the kernels that were compiled.
void set_capabilities(DeviceProperties& device);

}  // namespace hone::device::cuda
