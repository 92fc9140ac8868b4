// The GPU that checks run on.
#pragma once

#include "device/cuda/plugin/kernels/common/launch_options.hpp"

namespace hone::device::cuda::check {

/// The properties of the first GPU; those that DeviceProperties has by itself where there is none.
inline const DeviceProperties& gpu() {
  static const DeviceProperties kFound = [] {
    DeviceProperties device;
    (void)find_device_properties(0, device);
    return device;
  }();
  return kFound;
}

}  // namespace hone::device::cuda::check
