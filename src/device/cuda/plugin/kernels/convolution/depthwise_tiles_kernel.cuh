// The kernel of depthwise_tiles(). A block computes 32 channels of a part of an image while the next part is
// copied. Threads go down the image: a thread holds the sums of all output rows to which the next input row
// contributes, so that it reads each input of its strip, and converts it to float, only once.
#pragma once

#include "device/cuda/plugin/kernels/common/kernel_stamp.cuh"
#include "device/cuda/plugin/kernels/common/wgmma.cuh"
#include "device/cuda/plugin/kernels/convolution/depthwise_tiles_params.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_finish.cuh"

namespace hone::device::cuda {

/// The first output of a tile.
struct DepthwiseCorner {
  int column;
  int row;
  int image;

  __device__ __forceinline__ DepthwiseCorner(const DepthwiseTiles& p, int tile) {
    const auto line = static_cast<int>(p.tiles_across.divide(tile));
    column =
        (tile - line * static_cast<int>(p.tiles_across.divisor)) * p.plan.across * DepthwiseTilePlan::kStrip;
    const auto part = static_cast<int>(p.tiles_down.divide(line));
    row = (line - part * static_cast<int>(p.tiles_down.divisor)) * p.plan.down * p.plan.run;
    image = part * p.plan.images;
  }
};

/// A thread's part of each tile: kRun rows of outputs of a square kernel.
template <class T, int kTaps, int kStride, int kRun, StreamKind kKind>
class DepthwiseStrip {
 public:
  using Plan = DepthwiseTilePlan;
  using Pair = typename PairOf<T>::Type;

  __device__ __forceinline__ DepthwiseStrip(const DepthwiseTiles& params, unsigned char* memory, int chunk)
      : p_(params), memory_(memory), finish_(params.epilogue) {
    const int pair = static_cast<int>(threadIdx.x) % (Plan::kChannels / 2) * 2;
    const int unit = static_cast<int>(threadIdx.x) / (Plan::kChannels / 2);
    channel_ = chunk * Plan::kChannels + pair;
    const int line = unit / p_.plan.across;
    column_ = (unit - line * p_.plan.across) * Plan::kStrip;
    image_ = line / p_.plan.down;
    row_ = (line - image_ * p_.plan.down) * kRun;
    idle_ = image_ >= p_.plan.images || channel_ >= p_.channels;
    input_at_ = p_.plan.stages_at + pair * 2 +
                ((image_ * p_.plan.box_rows + row_ * kStride) * p_.plan.box_columns + column_ * kStride) *
                    Plan::kPixelBytes;
  }

  /// Loads the filter, which does not depend on the previous kernel.
  __device__ __forceinline__ void load_filter(int chunk) {
    if constexpr (kHoldsFilter) {
      if (idle_) return;
#pragma unroll
      for (int i = 0; i < kTaps * kTaps; ++i)
        filter_[i] = *reinterpret_cast<const float2*>(p_.weights + i * p_.channels + channel_);
    } else {
      for (int i = static_cast<int>(threadIdx.x); i < kTaps * kTaps * Plan::kChannels; i += Plan::kThreads) {
        const int channel = chunk * Plan::kChannels + i % Plan::kChannels;
        reinterpret_cast<float*>(memory_ + Plan::kFilterAt)[i] =
            channel < p_.channels ? p_.weights[i / Plan::kChannels * p_.channels + channel] : 0.0f;
      }
    }
  }

  __device__ __forceinline__ void load_bias() {
    if (p_.bias != nullptr && !idle_) bias_ = *reinterpret_cast<const float2*>(p_.bias + channel_);
  }

  /// Computes a tile whose pixels are in `stage` once `barrier` completes the phase with `parity`.
  __device__ __forceinline__ void run(const DepthwiseCorner& corner, int stage, uint32_t barrier,
                                      uint32_t parity, bool is_last_tile, RunningKernel& running) const {
    const int columns = p_.out_columns - corner.column - column_;
    const int rows = p_.out_rows - corner.row - row_;
    const int image = corner.image + image_;
    if (idle_ || columns <= 0 || rows <= 0 || image >= p_.batch) return;
    const int64_t first_pixel =
        (static_cast<int64_t>(image) * p_.out_rows + corner.row + row_) * p_.out_columns + corner.column +
        column_;
    T* to = static_cast<T*>(p_.output) + first_pixel * p_.channels + channel_;
    const unsigned char* from = memory_ + input_at_ + stage * p_.plan.stage_bytes;
    ptx::wait_barrier(barrier, parity);
    if (is_last_tile) running.finishing();
    float2 sums[kLive][Plan::kStrip];
#pragma unroll
    for (int y = 0; y < (kRun - 1) * kStride + kTaps; ++y) {
      float2 values[kReach];
#pragma unroll
      for (int x = 0; x < kReach; ++x)
        values[x] = widen(*reinterpret_cast<const Pair*>(from + x * Plan::kPixelBytes));
      from += p_.plan.box_columns * Plan::kPixelBytes;
#pragma unroll
      for (int r = 0; r < kTaps; ++r) {
        const int row = (y - r) / kStride;  // row of the outputs
        if (y < r || (y - r) % kStride != 0 || row >= kRun) continue;
        add(r, values, sums[row % kLive]);
      }
      const int done = (y - kTaps + 1) / kStride;
      if (y < kTaps - 1 || (y - kTaps + 1) % kStride != 0 || done >= rows) continue;
      if (done == kRun - 1 && is_last_tile) running.leave();
      store(columns, sums[done % kLive], to);
      to += static_cast<int64_t>(p_.out_columns) * p_.channels;
    }
  }

 private:
  static constexpr int kReach = (Plan::kStrip - 1) * kStride + kTaps;  ///< inputs along a row
  static constexpr int kLive = (kTaps + kStride - 1) / kStride;        ///< output rows that use an input row
  /// A larger filter would not leave registers for the sums.
  static constexpr bool kHoldsFilter = kTaps == 3;

  /// Adds an input row that is row r of the windows.
  __device__ __forceinline__ void add(int r, const float2 (&values)[kReach],
                                      float2 (&sums)[Plan::kStrip]) const {
#pragma unroll
    for (int s = 0; s < kTaps; ++s) {
      const float2 weight =
          kHoldsFilter ? filter_[kHoldsFilter ? r * kTaps + s : 0] : shared_filter(r * kTaps + s);
#pragma unroll
      for (int o = 0; o < Plan::kStrip; ++o) {
        const float2 value = values[o * kStride + s];
        const float2 sum = r == 0 && s == 0 ? bias_ : sums[o];
        sums[o] = make_float2(fmaf(value.x, weight.x, sum.x), fmaf(value.y, weight.y, sum.y));
      }
    }
  }

  __device__ __forceinline__ float2 shared_filter(int tap) const {
    const auto* const filter = reinterpret_cast<const float2*>(memory_ + Plan::kFilterAt);
    return filter[(tap * Plan::kChannels + static_cast<int>(threadIdx.x) % (Plan::kChannels / 2) * 2) / 2];
  }

  /// Stores `columns` outputs of a row, at most the whole strip.
  __device__ __forceinline__ void store(int columns, const float2 (&sums)[Plan::kStrip], T* to) const {
    uint32_t packed[Plan::kStrip];
#pragma unroll
    for (int o = 0; o < Plan::kStrip; ++o) finish_.run(sums[o], packed[o]);
    const bool is_whole = columns >= Plan::kStrip;
#pragma unroll
    for (int o = 0; o < Plan::kStrip; ++o) {
      if (is_whole || o < columns) *reinterpret_cast<uint32_t*>(to + o * p_.channels) = packed[o];
    }
  }

  const DepthwiseTiles& p_;
  unsigned char* memory_;
  PairFinish<T, kKind> finish_;
  bool idle_;
  int channel_;
  int column_;  ///< first column within the tile
  int row_;
  int image_;
  int input_at_;
  float2 bias_ = {};
  float2 filter_[kHoldsFilter ? kTaps * kTaps : 1];
};

/// Blocks for each multiprocessor; more would leave too few registers for the sums.
constexpr int depthwise_blocks(int taps, int run) { return taps == 3 ? 4 : taps == 7 && run == 7 ? 2 : 3; }

template <class T, int kTaps, int kStride, int kRun, StreamKind kKind>
__global__ void __launch_bounds__(DepthwiseTilePlan::kThreads, depthwise_blocks(kTaps, kRun))
    depthwise_tiles_kernel(const __grid_constant__ DepthwiseTiles p, KernelStamp* stamp) {
  extern __shared__ __align__(1024) unsigned char memory[];
  RunningKernel running(stamp);
  if (p.next_waits) ptx::allow_next_kernel();
  const int chunks = static_cast<int>(p.chunks.divisor);
  const int first = static_cast<int>(p.chunks.divide(blockIdx.x));
  const int chunk = static_cast<int>(blockIdx.x) - first * chunks;
  const int step = static_cast<int>(gridDim.x) / chunks;
  const uint32_t barriers = ptx::shared_address(memory);
  DepthwiseStrip<T, kTaps, kStride, kRun, kKind> strip(p, memory, chunk);
  strip.load_filter(chunk);
  const bool copies = ptx::warp() == 0;
  if (copies && ptx::elected()) {
    ptx::prefetch_map(p.input);
    for (int stage = 0; stage < DepthwiseTilePlan::kStages; ++stage)
      ptx::init_barrier(barriers + stage * 8, 1);
    ptx::fence_barriers();
  }
  __syncthreads();
  ptx::wait_for_previous_kernel();
  strip.load_bias();
  const auto copy = [&](const DepthwiseCorner& corner, int stage) {
    if (!copies || !ptx::elected()) return;
    const uint32_t barrier = barriers + stage * 8;
    ptx::expect_copies(barrier, p.box_bytes);
    ptx::copy_pixels(barriers + p.plan.stages_at + stage * p.plan.stage_bytes, p.input, barrier,
                     chunk * DepthwiseTilePlan::kChannels, corner.column * kStride - p.pad_x,
                     corner.row * kStride - p.pad_y, corner.image);
  };
  DepthwiseCorner corner(p, first);
  copy(corner, 0);
  for (int tile = first, i = 0; tile < p.tiles; tile += step, ++i) {
    const int stage = i % DepthwiseTilePlan::kStages;
    const bool is_last = tile + step >= p.tiles;
    const DepthwiseCorner next(p, is_last ? tile : tile + step);
    if (!is_last) copy(next, (i + 1) % DepthwiseTilePlan::kStages);
    strip.run(corner, stage, barriers + stage * 8, i / DepthwiseTilePlan::kStages % 2, is_last, running);
    corner = next;
    __syncthreads();
  }
}

}  // namespace hone::device::cuda
