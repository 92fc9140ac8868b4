// See cluster_bottleneck.hpp.
#include "device/cuda/regions/bottleneck/plugin/kernels/cluster_bottleneck.hpp"

#include <algorithm>

#include "device/cuda/plugin/kernels/common/wgmma_operands.cuh"

namespace hone::device::cuda {

size_t ClusterBottleneck::window_index(int64_t channels, int64_t filter, int64_t tap, int64_t channel) {
  constexpr int64_t kGroup = 32;  // channels of a warpgroup
  const int64_t block = filter / 64 * (channels / 64) + channel / 64;
  const int64_t step = (block * 2 + channel % 64 / kGroup) * 18 + tap * 2 + channel % kGroup / 16;
  return static_cast<size_t>(step) * ptx::kLeftElements + ptx::left_place(filter % 64, channel % 16);
}

size_t ClusterBottleneck::expand_index(int64_t channels, int64_t filter, int64_t channel) {
  const int64_t step = filter / 64 * (channels / 16) + channel / 16;
  return static_cast<size_t>(step) * ptx::kLeftElements + ptx::left_place(filter % 64, channel % 16);
}

size_t ClusterBottleneck::next_index(int64_t channels, int64_t filter, int64_t channel) {
  const int64_t of_block = 4 * channels / cluster(channels);
  const int64_t tile = channel / of_block * (channels / 64) + filter / 64;
  const int64_t step = tile * (of_block / 16) + channel % of_block / 16;
  return static_cast<size_t>(step) * ptx::kLeftElements + ptx::left_place(filter % 64, channel % 16);
}

Refusal cluster_bottleneck_refusal(const Bottleneck& size, const DeviceProperties& device) {
  if (!device.warpgroups || !device.clusters)
    return "the device has no products of warpgroups, or no clusters";
  if (!ClusterBottleneck::takes(size.channels))
    return std::to_string(size.channels) + " channels, not 64, 128 or 256";
  if (size.next != 0 && size.next != size.channels)
    return std::to_string(size.next) + " channels behind it, not " + std::to_string(size.channels);
  if (size.projects) return "more than 64 channels with a projected shortcut";
  if (size.batch < 0 || size.height < 1 || size.width < 1) return "the image is empty";
  const int64_t rows = ClusterBottleneck::rows(size.width);
  const int64_t pitch = size.width + 2;
  // The last window's columns begin two rows and two pixels after the first's.
  const int64_t reached = std::max((rows + 2) * pitch, 2 * pitch + 2 + ClusterBottleneck::kTilePixels);
  if (rows < 1 || reached > ClusterBottleneck::patch_rows(size.channels))
    return "rows of " + std::to_string(size.width) + " pixels do not fit";
  if (ClusterBottleneck::tiles(size) > Bottleneck::kMostTiles / ClusterBottleneck::cluster(size.channels))
    return "the image is too large";
  return {};
}

}  // namespace hone::device::cuda
