// The second half of a bottleneck and the first convolution of the next one, as one kernel: a row of pixels
// stays in a warpgroup's registers from the 3 x 3 convolution to the end.
#pragma once

#include <string>

#include "base/refusal.hpp"
#include "device/cuda/plugin/kernels/common/conv_problem.hpp"
#include "device/cuda/plugin/kernels/common/launch_options.hpp"
#include "device/cuda/plugin/kernels/common/stream_epilogue.hpp"

namespace hone::device::cuda {

/// wide = bounds(expand(bounds(window(x))) + shortcut), narrow = bounds(next(wide)), where window is a
/// convolution of 3 x 3 with one pixel of padding, and expand and next are of 1 x 1; narrow is not made where
/// it has no channels.
struct Bottleneck {
  static constexpr int64_t kChannels = 64;  ///< where a block has all filters
  static constexpr int64_t kWide = 256;     ///< after expand then
  static constexpr int64_t kTilePixels = 64;
  static constexpr int64_t kMostTiles = int64_t{1} << 30;

  int64_t batch = 1;
  int64_t height = 0;
  int64_t width = 0;
  int64_t next = 0;  ///< channels of narrow: 64, or 128 without projection; of more channels as many, or 0
  bool projects = false;  ///< what is added is a convolution of 1 x 1 of `shortcut`, of kChannels
  /// Bounds of the results of the convolutions; kinds are ignored.
  StreamEpilogue window_bounds = {};
  StreamEpilogue wide_bounds = {};
  StreamEpilogue narrow_bounds = {};
  int64_t channels = kChannels;  ///< of x and after window: 64, or 128 or 256 (cluster_bottleneck.hpp)

  int64_t wide() const { return 4 * channels; }  ///< channels after expand
  /// Tiles of a row.
  int64_t segments() const { return (width + kTilePixels - 1) / kTilePixels; }
  /// Each some of the pixels of a row.
  int64_t tiles() const { return batch * height * segments(); }
};

/// Why it cannot run on such a device; empty when it can.
Refusal bottleneck_refusal(const Bottleneck& size, const DeviceProperties& device);

/// Device pointers, images channels-last and 16-byte aligned. Filters are [filters][taps][channels], for
/// clusters as ClusterBottleneck says and for pipelines as PipelinedBottleneck does.
struct BottleneckArgs {
  const void* x = nullptr;         ///< [pixels][channels]
  const void* shortcut = nullptr;  ///< [pixels][wide()], or [pixels][channels] when that is projected
  const void* window = nullptr;
  const void* expand = nullptr;
  const void* next = nullptr;  ///< null where narrow is
  const void* projection = nullptr;
  const float* window_bias = nullptr;  ///< biases may be null
  const float* expand_bias = nullptr;
  const float* next_bias = nullptr;
  const float* projection_bias = nullptr;
  void* wide = nullptr;
  void* narrow = nullptr;
};

/// Elements are kHalf or kBfloat16, sums float32; what lies between the convolutions is rounded to elements.
/// Filters and biases are read before the kernel ahead has ended, so that it must not write them.
cudaError_t bottleneck(const BottleneckArgs& args, FloatType type, const Bottleneck& size,
                       const LaunchOptions& options);

}  // namespace hone::device::cuda
