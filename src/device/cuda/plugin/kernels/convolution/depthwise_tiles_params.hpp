// The parameter of the kernel of depthwise_tiles(). Internal.
#pragma once

#include <cuda.h>

#include <algorithm>

#include "device/cuda/plugin/kernels/common/ceil_divide.hpp"
#include "device/cuda/plugin/kernels/common/fast_divisor.hpp"
#include "device/cuda/plugin/kernels/common/stream_epilogue.hpp"
#include "device/cuda/plugin/kernels/convolution/depthwise.hpp"

namespace hone::device::cuda {

/// The arrangement of a block's strips: side by side, one below the other, and over images.
struct DepthwiseTilePlan {
  static constexpr int kThreads = 128;
  static constexpr int kChannels = 32;                      ///< channels of a block; a thread has two of them
  static constexpr int kStrip = 7;                          ///< outputs along a row that a thread computes
  static constexpr int kStrips = kThreads * 2 / kChannels;  ///< strips of a block
  static constexpr int kMostAcross = 4;                     ///< most strips side by side
  static constexpr int kStages = 2;                         ///< tiles in a block's memory
  static constexpr int kPixelBytes = kChannels * 2;
  static constexpr int kFilterAt = 128;  ///< after the barriers

  int run;     ///< rows of a strip
  int across;  ///< strips side by side in a block
  int down;    ///< strips one below the other
  int images;
  int box_columns;  ///< columns of the input in a box
  int box_rows;
  int stages_at;
  int stage_bytes;

  DepthwiseTilePlan(const ConvolutionSize& size, int strip_rows, int multiprocessors) : run(strip_rows) {
    const auto taps = static_cast<int>(size.kernel[1]);
    const auto stride = static_cast<int>(size.stride[1]);
    const auto fit = [](int64_t wanted, int most) {
      return static_cast<int>(std::clamp<int64_t>(wanted, 1, most));
    };
    across = fit(ceil_divide(size.output[2], kStrip), kMostAcross);
    down = fit(ceil_divide(size.output[1], run), kStrips / across);
    images = fit(size.batch, kStrips / across / down);
    // Idle threads are acceptable, idle multiprocessors are not.
    for (int* const each : {&images, &down, &across}) {
      while (*each > 1 && tiles(size) * chunks(size) < multiprocessors) *each = ceil_divide(*each, 2);
    }
    box_columns = (across * kStrip - 1) * stride + taps;
    box_rows = (down * run - 1) * stride + taps;
    stages_at = kFilterAt + ceil_divide(taps == 3 ? 0 : taps * taps * kChannels * 4, 128) * 128;
    stage_bytes = ceil_divide(box_bytes(), 128) * 128;
  }

  /// Numbers of tiles across and down an image and over all
  /// images; chunks() is the number of blocks for all channels.
  int64_t tiles_across(const ConvolutionSize& size) const {
    return ceil_divide(size.output[2], across * kStrip);
  }
  int64_t tiles_down(const ConvolutionSize& size) const { return ceil_divide(size.output[1], down * run); }
  int64_t tiles(const ConvolutionSize& size) const {
    return tiles_across(size) * tiles_down(size) * ceil_divide(size.batch, images);
  }
  static int64_t chunks(const ConvolutionSize& size) { return ceil_divide(size.in_channels, kChannels); }

  int box_bytes() const { return images * box_rows * box_columns * kPixelBytes; }
  int64_t shared_bytes() const { return stages_at + int64_t{kStages} * stage_bytes; }
};

/// The kernel for windows of 7 x 7 and `run` rows of outputs, in fp16 or, if not `is_half`, in bf16.
const void* wide_depthwise_tiles_kernel(bool is_half, StreamKind kind, int run);

struct DepthwiseTiles {
  CUtensorMap input;
  const float* weights;
  const float* bias;
  void* output;
  StreamEpilogue epilogue;
  DepthwiseTilePlan plan;
  int box_bytes;
  int channels;
  int batch;
  int out_rows;
  int out_columns;
  int pad_y;
  int pad_x;
  int tiles;
  FastDivisor tiles_across;
  FastDivisor tiles_down;
  FastDivisor chunks;  ///< number of blocks for all channels
  bool next_waits;
};

}  // namespace hone::device::cuda
