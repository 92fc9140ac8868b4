// See bottleneck.hpp.
#include "device/cuda/regions/bottleneck/plugin/kernels/bottleneck.hpp"
#include "device/cuda/regions/bottleneck/plugin/kernels/cluster_bottleneck.hpp"

namespace hone::device::cuda {

Refusal bottleneck_refusal(const Bottleneck& size, const DeviceProperties& device) {
  if (size.channels != Bottleneck::kChannels) return cluster_bottleneck_refusal(size, device);
  if (!device.warpgroups) return "the device has no products of warpgroups";
  if (size.next != 64 && size.next != 128)
    return std::to_string(size.next) + " channels behind it, not 64 or 128";
  if (size.projects && size.next != 64)
    return std::to_string(size.next) + " channels behind a bottleneck whose shortcut is projected, not 64";
  if (size.batch < 0 || size.height < 1 || size.width < 1) return "the image is empty";
  if (size.tiles() > Bottleneck::kMostTiles) return "the image is too large";
  return {};
}

}  // namespace hone::device::cuda
