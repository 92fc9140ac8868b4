// The resident GEMM: one block computes one tile of y, or its part of the tile's channels. It has no main
// loop over memory, since all operands arrive first. At batch 1 the kernel has only a few hundred
// instructions, so the latency of each one counts. Everything that does not need the previous kernel is
// therefore done before waiting for it.
#pragma once

#include <type_traits>

#include "device/cuda/plugin/kernels/common/kernel_stamp.cuh"
#include "device/cuda/plugin/kernels/gemm/gemm_store.cuh"
#include "device/cuda/plugin/kernels/gemm/resident/resident_gemm_patch.cuh"

namespace hone::device::cuda {

/// A block's tile: kM pixels by kN filters. Each of kSlices parts of the depth has kWarpsM by kWarpsN warps.
template <int kM_, int kN_, int kSlices_, int kWarpsM_, int kWarpsN_>
struct ResidentTile {
  static constexpr int kM = kM_;
  static constexpr int kN = kN_;
  static constexpr int kSlices = kSlices_;
  static constexpr int kWarpsM = kWarpsM_;
  static constexpr int kWarpsN = kWarpsN_;
  static constexpr int kThreads = kSlices * kWarpsM * kWarpsN * 32;
  static constexpr int kFragments = kM / kWarpsM / 16;  ///< of 16 pixels, for one warp
  static constexpr int kPairs = kN / kWarpsN / 16;      ///< of 8 filters
  static constexpr int kStageFloats = kM * (kN + kStagePad);
  static constexpr int kRuns = kM * kN / 8;
  static constexpr int kRunsOfThread = (kRuns + kThreads - 1) / kThreads;
  static_assert(kM % (kWarpsM * 16) == 0 && kN % (kWarpsN * 16) == 0 && kN <= kThreads);
};

/// Starts copying the block's filters, restricted to its slab of the channels of every tap, to rows of
/// p.weight_pitch bytes. One warp is enough, since there are few bulk copies.
template <class T, class TileT>
__device__ __forceinline__ void copy_filters(const ResidentParams& p, int tile_n, int part, uint32_t target,
                                             uint32_t barrier) {
  const int lane = static_cast<int>(threadIdx.x);
  const int filters = min(TileT::kN, p.epilogue.filters - tile_n * TileT::kN);
  // A whole filter is contiguous if the channels are not divided.
  const int pieces = p.slab == p.channels ? 1 : p.taps;
  const int bytes = p.slab * p.taps / pieces * 2;
  const T* const w = static_cast<const T*>(p.w) +
                     static_cast<int64_t>(tile_n) * TileT::kN * p.taps * p.channels + part * p.slab;
  if (lane == 0) ptx::expect_copies(barrier, static_cast<uint32_t>(filters * pieces * bytes));
  __syncwarp();
#pragma unroll 1
  for (int filter = lane; filter < filters; filter += 32) {
    const T* source = w + static_cast<int64_t>(filter) * p.taps * p.channels;
    uint32_t to = target + filter * p.weight_pitch;
#pragma unroll 1
    for (int tap = 0; tap < pieces; ++tap) {
      ptx::copy_bulk(to, source, bytes, barrier);
      source += p.channels;
      to += bytes;
    }
  }
}

/// A warp's product over its slice of the depth.
template <class T, class TileT, bool kWindow>
struct SliceProduct {
  template <class Tile>
  __device__ __forceinline__ SliceProduct(const ResidentParams& p, const Tile& tile, uint32_t patch,
                                          uint32_t weights, int slice, int pixel, int filter) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int first = p.depth_steps * slice / TileT::kSlices;
    count = p.depth_steps * (slice + 1) / TileT::kSlices - first;
    // ldmatrix takes a row's address from each lane: pixels 0-7
    // and 8-15 with depth 0-7, then both with depth 8-15 ...
    cursor = first * 32;
    steps = ptx::in_register(static_cast<int>(p.slab_steps.divisor));
    kernel_w = ptx::in_register(static_cast<int>(p.kernel_w.divisor));
    tap_skip = ptx::in_register(p.tap_skip);
    row_skip = ptx::in_register(p.row_skip);
    if (kWindow) {
      const int tap = static_cast<int>(p.slab_steps.divide(first));
      const int tap_y = static_cast<int>(p.kernel_w.divide(tap));
      const int tap_x = tap - tap_y * static_cast<int>(p.kernel_w.divisor);
      left = steps - (first - tap * steps);
      columns = kernel_w - tap_x;
      cursor += tap * p.tap_skip + tap_y * p.row_skip;
    }
#pragma unroll
    for (int i = 0; i < TileT::kFragments; ++i)
      pixels[i] = patch + tile.window(p, pixel + i * 16 + lane % 16) + (lane >> 4) * 16;
    // ... and filters 0-7 with depth 0-7 and 8-15, then the same for filters 8-15.
    const int row = filter + lane % 8 + (lane >> 4) * 8;
#pragma unroll
    for (int j = 0; j < TileT::kPairs; ++j) {
      filters[j] =
          ptx::in_register(weights + (row + j * 16) * p.weight_pitch + ((lane >> 3) & 1) * 16 + first * 32);
    }
  }

  __device__ __forceinline__ void load(uint32_t (&a)[TileT::kFragments][4], uint32_t (&b)[TileT::kPairs][4]) {
#pragma unroll
    for (int i = 0; i < TileT::kFragments; ++i) ptx::load_matrix_x4(a[i], pixels[i] + cursor);
#pragma unroll
    for (int j = 0; j < TileT::kPairs; ++j) {
      ptx::load_matrix_x4(b[j], filters[j]);
      filters[j] += 32;
    }
    cursor += 32;
    if (!kWindow || --left != 0) return;
    left = steps;
    cursor += tap_skip;
    if (--columns != 0) return;
    columns = kernel_w;
    cursor += row_skip;
  }

  __device__ __forceinline__ void multiply(const uint32_t (&a)[TileT::kFragments][4],
                                           const uint32_t (&b)[TileT::kPairs][4]) {
#pragma unroll
    for (int i = 0; i < TileT::kFragments; ++i) {
#pragma unroll
      for (int j = 0; j < TileT::kPairs; ++j) {
        ptx::mma<T>(sums[i][2 * j], a[i], b[j][0], b[j][1]);
        ptx::mma<T>(sums[i][2 * j + 1], a[i], b[j][2], b[j][3]);
      }
    }
  }

  /// Loads the fragments of a step while the previous step's are multiplied.
  __device__ __forceinline__ void run() {
    uint32_t a[2][TileT::kFragments][4];
    uint32_t b[2][TileT::kPairs][4];
    if (count == 0) return;
    load(a[0], b[0]);
#pragma unroll 1
    for (int k = 1; k < count; k += 2) {
      load(a[1], b[1]);
      multiply(a[0], b[0]);
      if (k + 1 < count) load(a[0], b[0]);
      multiply(a[1], b[1]);
    }
    if (count % 2 != 0) multiply(a[0], b[0]);
  }

  /// Stores to a tile [kM][kN + kStagePad], in which this warp's part starts at `corner`.
  __device__ __forceinline__ void store(float* corner) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    constexpr int kPitch = TileT::kN + kStagePad;
    float* const mine = corner + lane / 4 * kPitch + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < TileT::kFragments; ++i) {
#pragma unroll
      for (int j = 0; j < 2 * TileT::kPairs; ++j) {
        float* const to = mine + i * 16 * kPitch + j * 8;
        *reinterpret_cast<float2*>(to) = make_float2(sums[i][j][0], sums[i][j][1]);
        *reinterpret_cast<float2*>(to + 8 * kPitch) = make_float2(sums[i][j][2], sums[i][j][3]);
      }
    }
  }

  float sums[TileT::kFragments][2 * TileT::kPairs][4] = {};
  uint32_t pixels[TileT::kFragments];
  uint32_t filters[TileT::kPairs];
  int steps;
  int kernel_w;
  int tap_skip;
  int row_skip;
  int cursor;   ///< bytes from a window's start
  int count;    ///< steps of this slice
  int left;     ///< steps to the end of the tap
  int columns;  ///< taps to the end of the row
};

/// Adds up a run's sums of all slices, in the order of slices.
template <class TileT>
__device__ __forceinline__ void sum_slices(const float* staged, int run, float (&values)[8]) {
  constexpr int kPerRow = TileT::kN / 8;
  const float* const from = staged + run / kPerRow * (TileT::kN + kStagePad) + run % kPerRow * 8;
#pragma unroll
  for (int slice = 0; slice < TileT::kSlices; ++slice) {
    add4(values, 0, *reinterpret_cast<const float4*>(from + slice * TileT::kStageFloats));
    add4(values, 4, *reinterpret_cast<const float4*>(from + slice * TileT::kStageFloats + 4));
  }
}

/// The runs that this thread finishes. It computes their places
/// and fetches the operand of an addition before the sums.
template <class T, class TileT>
struct ThreadRuns {
  template <class Tile>
  __device__ __forceinline__ ThreadRuns(const ResidentParams& p, const Tile& tile, int tile_n, int first,
                                        int count)
      : first_channel(tile_n * TileT::kN), y(ptx::in_register(static_cast<T*>(p.epilogue.y))) {
#pragma unroll
    for (int i = 0; i < TileT::kRunsOfThread; ++i) {
      const int turn = i * TileT::kThreads + static_cast<int>(threadIdx.x);
      run[i] = first + turn;
      row[i] = turn < count ? tile.output(p, run[i] / (TileT::kN / 8)) : -1;
      if (channel(i) >= p.epilogue.filters) row[i] = -1;
      offset[i] = row[i] * p.epilogue.filters + channel(i);
    }
  }

  __device__ __forceinline__ int channel(int i) const { return first_channel + run[i] % (TileT::kN / 8) * 8; }

  __device__ __forceinline__ void fetch(const ResidentParams& p) {
    if (p.epilogue.prefetched == nullptr) return;
    const T* const from = static_cast<const T*>(p.epilogue.prefetched);
#pragma unroll
    for (int i = 0; i < TileT::kRunsOfThread; ++i) {
      if (row[i] >= 0) fetched[i] = *reinterpret_cast<const uint4*>(from + offset[i]);
    }
  }

  template <class Sums>
  __device__ __forceinline__ void finish(const ResidentParams& p, const float* bias, const Sums& sums) const {
#pragma unroll
    for (int i = 0; i < TileT::kRunsOfThread; ++i) {
      if (row[i] < 0) continue;
      float values[8] = {};
      const int local = run[i] % (TileT::kN / 8) * 8;
      sums(run[i], values);
      add4(values, 0, *reinterpret_cast<const float4*>(bias + local));
      add4(values, 4, *reinterpret_cast<const float4*>(bias + local + 4));
      finish_run<T>(p.epilogue, row[i], channel(i), fetched + i, values);
      pack<T>(values, reinterpret_cast<uint4*>(y + offset[i]));
    }
  }

  int first_channel;
  T* y;
  int run[TileT::kRunsOfThread];
  int row[TileT::kRunsOfThread];  ///< -1 if there is no such run
  int offset[TileT::kRunsOfThread];
  uint4 fetched[TileT::kRunsOfThread];
};

/// Sends every run's sums to the block of the cluster that finishes it, as [parts][runs of a block][8].
template <class TileT>
__device__ __forceinline__ void send_sums(const float* staged, int part, int count, uint32_t receive) {
  for (int run = static_cast<int>(threadIdx.x); run < TileT::kRuns; run += TileT::kThreads) {
    float values[8] = {};
    sum_slices<TileT>(staged, run, values);
    const int owner = run / count;
    const uint32_t to = ptx::address_in_block(receive + (part * count + run - owner * count) * 32, owner);
    ptx::store_remote(to, make_float4(values[0], values[1], values[2], values[3]));
    ptx::store_remote(to + 16, make_float4(values[4], values[5], values[6], values[7]));
  }
}

template <class T, class TileT, class Tile>
__global__ void __launch_bounds__(TileT::kThreads)
    resident_gemm(const __grid_constant__ ResidentParams p, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  extern __shared__ __align__(128) unsigned char memory[];
  if (p.next_waits) ptx::allow_next_kernel();
  const int parts = static_cast<int>(p.parts.divisor);
  if (parts > 1) ptx::arrive_cluster();  // other blocks may now write to this block's memory
  const int index = static_cast<int>(p.parts.divide(blockIdx.x));
  const int part = static_cast<int>(blockIdx.x) - index * parts;
  const int tile_m = static_cast<int>(p.tiles_n.divide(index));
  const int tile_n = index - tile_m * static_cast<int>(p.tiles_n.divisor);
  const int warp = static_cast<int>(threadIdx.x) / 32;

  auto* const bias = reinterpret_cast<float*>(memory + ResidentMemory::kBarrier);
  auto* const staged = bias + TileT::kN;
  const uint32_t barrier = ptx::shared_address(memory);
  const uint32_t weights = ptx::shared_address(staged);
  const uint32_t patch = ptx::shared_address(memory + p.patch_at);

  // Weights do not depend on the previous kernel.
  if (warp == 0) {
    if (threadIdx.x == 0) ptx::init_copy_barrier(barrier);
    __syncwarp();
    copy_filters<T, TileT>(p, tile_n, part, weights, barrier);
  }
  load_bias<TileT::kN>(p.epilogue, tile_n * TileT::kN, p.w, bias);
  const Tile tile(p, tile_m, TileT::kM);
  const PatchCopies<T, Tile, TileT::kThreads> copies(p, tile, part);
  const int slice = warp / (TileT::kWarpsM * TileT::kWarpsN);
  const int pixel = warp / TileT::kWarpsN % TileT::kWarpsM * TileT::kFragments * 16;
  const int filter = warp % TileT::kWarpsN * TileT::kPairs * 16;
  SliceProduct<T, TileT, std::is_same_v<Tile, WindowTile>> product(p, tile, patch, weights, slice, pixel,
                                                                   filter);
  const int count = parts == 1 ? TileT::kRuns : TileT::kRuns / parts;
  ThreadRuns<T, TileT> runs(p, tile, tile_n, part * count, count);
  __syncthreads();  // the barrier is initialised for all threads
  ptx::wait_copy_barrier(barrier);

  ptx::wait_for_previous_kernel();
  copies.start(p, tile, patch);
  ptx::commit_copies();
  runs.fetch(p);
  ptx::wait_copies<0>();
  __syncthreads();
  product.run();
  __syncthreads();
  product.store(staged + slice * TileT::kStageFloats + pixel * (TileT::kN + kStagePad) + filter);
  __syncthreads();
  if (parts == 1) {
    runs.finish(p, bias, [&](int run, float(&values)[8]) { sum_slices<TileT>(staged, run, values); });
    return;
  }
  ptx::wait_cluster();
  send_sums<TileT>(staged, part, count, ptx::shared_address(memory + p.receive_at));
  ptx::sync_cluster();
  const auto* const received = reinterpret_cast<const float4*>(memory + p.receive_at);
  runs.finish(p, bias, [&](int run, float(&values)[8]) {
    for (int from = 0; from < parts; ++from) {
      const int at = (from * count + run - part * count) * 2;
      add4(values, 0, received[at]);
      add4(values, 4, received[at + 1]);
    }
  });
}

}  // namespace hone::device::cuda
