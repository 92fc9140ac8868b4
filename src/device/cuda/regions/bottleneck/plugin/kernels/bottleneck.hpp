// The second half of a bottleneck and the first convolution of the next one as one kernel: a row of pixels
// stays in the registers of a warpgroup from the 3 x 3 convolution to the end.
#pragma once

#include <string>

#include "base/refusal.hpp"
#include "device/cuda/plugin/kernels/common/conv_problem.hpp"
#include "device/cuda/plugin/kernels/common/launch_options.hpp"
#include "device/cuda/plugin/kernels/common/stream_epilogue.hpp"

namespace hone::device::cuda {

/// wide = bounds(expand(bounds(window(x))) + shortcut), narrow = bounds(next(wide)). window is a 3 x 3
/// convolution with one pixel of padding; expand and next are 1 x 1 convolutions. narrow is not computed if
/// it has no channels.
struct Bottleneck {
  static constexpr int64_t kChannels = 64;  ///< if a block holds all filters
  static constexpr int64_t kWide = 256;     ///< channels after expand in this case
  static constexpr int64_t kTilePixels = 64;
  static constexpr int64_t kMostTiles = int64_t{1} << 30;

  int64_t batch = 1;
  int64_t height = 0;
  int64_t width = 0;
  int64_t next =
      0;  ///< channels of narrow: 64, or 128 without projection; for more channels the same number, or 0
  bool projects = false;  ///< the addend is a 1 x 1 convolution of `shortcut`, which has kChannels
  /// Bounds of the results of the convolutions; their kinds are ignored.
  StreamEpilogue window_bounds = {};
  StreamEpilogue wide_bounds = {};
  StreamEpilogue narrow_bounds = {};
  int64_t channels =
      kChannels;  ///< channels of x and after window: 64, or 128 or 256 (cluster_bottleneck.hpp)

  int64_t wide() const { return 4 * channels; }  ///< channels after expand
  /// Tiles of a row.
  int64_t segments() const { return (width + kTilePixels - 1) / kTilePixels; }
  /// Each tile consists of some pixels of a row.
  int64_t tiles() const { return batch * height * segments(); }
};

/// Why it cannot run on this device; empty if it can.
Refusal bottleneck_refusal(const Bottleneck& size, const DeviceProperties& device);

/// Device pointers. Images are channels-last and 16-byte aligned. Filters are [filters][taps][channels]; for
/// clusters their order is that of ClusterBottleneck, and for pipelines that of PipelinedBottleneck.
struct BottleneckArgs {
  const void* x = nullptr;         ///< [pixels][channels]
  const void* shortcut = nullptr;  ///< [pixels][wide()], or [pixels][channels] if it is projected
  const void* window = nullptr;
  const void* expand = nullptr;
  const void* next = nullptr;  ///< null if narrow is null
  const void* projection = nullptr;
  const float* window_bias = nullptr;  ///< biases may be null
  const float* expand_bias = nullptr;
  const float* next_bias = nullptr;
  const float* projection_bias = nullptr;
  void* wide = nullptr;
  void* narrow = nullptr;
};

/// Elements are kHalf or kBfloat16, sums are float32, and values between the convolutions are rounded to
/// elements. Filters and biases are read before the previous kernel has ended, so that kernel must not write
/// them.
cudaError_t bottleneck(const BottleneckArgs& args, FloatType type, const Bottleneck& size,
                       const LaunchOptions& options);

}  // namespace hone::device::cuda
