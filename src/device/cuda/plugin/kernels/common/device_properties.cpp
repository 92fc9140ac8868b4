// Properties that follow from a GPU's compute capability.
#include "device/cuda/plugin/kernels/common/device_properties.hpp"

namespace hone::device::cuda {
namespace {

/// On other architectures, kernels for 9.0a are compiled with empty bodies.
#ifdef HONE_COMPILED_FOR_HOPPER
constexpr bool kCompiledForHopper = true;
#else
constexpr bool kCompiledForHopper = false;
#endif

}  // namespace

void set_capabilities(DeviceProperties& device) {
  constexpr int kAmpere = 8;
  constexpr int kHopper = 9;
  device.async_copies = device.major >= kAmpere;
  device.clusters = device.major >= kHopper;
  device.warpgroups = kCompiledForHopper && device.major == kHopper && device.minor == 0;
  device.programmatic_launches = device.major >= kHopper;
  if (!device.clusters) device.clusters_of = {};
}

int DeviceProperties::clusters_at_once(int blocks) const {
  for (size_t i = 0; i < clusters_of.size(); ++i) {
    if (blocks == 2 << i) return clusters_of[i];
  }
  return blocks == 1 ? multiprocessors : 0;
}

}  // namespace hone::device::cuda
