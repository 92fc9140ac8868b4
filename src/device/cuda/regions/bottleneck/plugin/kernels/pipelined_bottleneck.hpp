// The bottleneck of 64 channels as a pipeline: a warpgroup of a block for each of its three convolutions.
#pragma once

#include "device/cuda/regions/bottleneck/plugin/kernels/bottleneck.hpp"

namespace hone::device::cuda {

struct PipelinedBottleneck {
  static constexpr int64_t kTilePixels = 56;  ///< of a row

  /// True if the third convolution's filters stay in registers too, and so lie as next_index() says.
  static constexpr bool next_in_registers(int64_t next) { return next == 64; }
  static int64_t segments(const Bottleneck& size) { return (size.width + kTilePixels - 1) / kTilePixels; }
  static int64_t tiles(const Bottleneck& size) { return size.batch * size.height * segments(size); }

  /// Where weights go, as wgmma takes left matrices from registers: of the window [9 taps * 4][128
  /// threads][8], of the others [filters / 64][depth / 16][128][8].
  static size_t window_index(int64_t filter, int64_t tap, int64_t channel);
  static size_t expand_index(int64_t filter, int64_t channel);
  static size_t next_index(int64_t filter, int64_t channel);
};

/// Why it cannot run on such a device; empty when it can.
Refusal pipelined_bottleneck_refusal(const Bottleneck& size, const DeviceProperties& device);

/// bottleneck() of 64 channels; filters as the functions above say, of the projection as they are.
cudaError_t pipelined_bottleneck(const BottleneckArgs& args, FloatType type, const Bottleneck& size,
                                 const LaunchOptions& options);

}  // namespace hone::device::cuda
