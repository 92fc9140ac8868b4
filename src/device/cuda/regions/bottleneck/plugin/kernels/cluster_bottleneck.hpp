// A bottleneck whose filters are too many for one block, by the blocks of a cluster: of 128 channels by four,
// of 256 by sixteen.
#pragma once

#include "device/cuda/regions/bottleneck/plugin/kernels/bottleneck.hpp"

namespace hone::device::cuda {

struct ClusterBottleneck {
  static constexpr int kTilePixels = 32;
  /// Rows of 64 channels for which a block has room: the reach of a tile's windows.
  static constexpr int64_t patch_rows(int64_t channels) { return channels == 128 ? 104 : 72; }
  static constexpr bool takes(int64_t channels) { return channels == 128 || channels == 256; }
  /// Blocks.
  static constexpr int64_t cluster(int64_t channels) { return channels / 64 * (channels / 64); }
  /// Rows of an image in a tile: between two of them lie two columns that are no pixels. 0 when none fits.
  static constexpr int64_t rows(int64_t width) { return (kTilePixels + 2) / (width + 2); }
  static int64_t tiles(const Bottleneck& size) {
    return size.batch * ((size.height + rows(size.width) - 1) / rows(size.width));
  }
  /// Where weights go, as wgmma takes left matrices from registers, and each block's one after the other. The
  /// window's: [blocks][2 warpgroups][9 taps * 2][128 threads][8].
  static size_t window_index(int64_t channels, int64_t filter, int64_t tap, int64_t channel);
  /// [filters / 64][depth / 16][128][8].
  static size_t expand_index(int64_t channels, int64_t filter, int64_t channel);
  /// [blocks][filters / 64][depth of a block / 16][128][8].
  static size_t next_index(int64_t channels, int64_t filter, int64_t channel);
};

/// Why it cannot run on such a device; empty when it can.
Refusal cluster_bottleneck_refusal(const Bottleneck& size, const DeviceProperties& device);

/// bottleneck() of these channels; filters as the functions above say.
cudaError_t cluster_bottleneck(const BottleneckArgs& args, FloatType type, const Bottleneck& size,
                               const LaunchOptions& options);

}  // namespace hone::device::cuda
