// The kernel of a bottleneck in a cluster. Pixels are the columns of all products, filters their left matrix,
// in registers: so tiles may have 32 pixels, and a product reads little of shared memory. A block has 64
// filters of 3 x 3, and 64 of their channels; it adds up with the blocks that have the other channels and
// sends what it has finished to all blocks; where the next bottleneck's first convolution is a part, their
// sums are added up again behind it.
#pragma once

#include "device/cuda/plugin/kernels/common/kernel_stamp.cuh"
#include "device/cuda/plugin/kernels/gemm/warpgroup/sum_runs.cuh"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_finish.cuh"
#include "device/cuda/regions/bottleneck/plugin/kernels/cluster_bottleneck_params.hpp"

namespace hone::device::cuda {

/// Each completes once.
struct ClusterBottleneckBarriers {
  uint32_t start;
  __device__ __forceinline__ uint32_t filters() const { return start; }
  __device__ __forceinline__ uint32_t patch() const { return start + 8; }
  __device__ __forceinline__ uint32_t shortcut() const { return start + 16; }
  /// Counts the parts that other blocks send.
  __device__ __forceinline__ uint32_t window_parts() const { return start + 24; }
  __device__ __forceinline__ uint32_t middle() const { return start + 32; }
  __device__ __forceinline__ uint32_t next_parts() const { return start + 40; }
  __device__ __forceinline__ uint32_t window() const { return start + 48; }
};

template <class T, int kChannels, bool kNarrows>
class ClusterBottleneckBlock {
 public:
  using Memory = ClusterBottleneckMemory<kChannels, kNarrows>;
  static constexpr int kThreads = 256;

  __device__ __forceinline__ ClusterBottleneckBlock(const ClusterBottleneckParams& params,
                                                    unsigned char* memory)
      : p_(params),
        bytes_(memory),
        memory_(ptx::shared_address(memory)),
        warp_(ptx::warp()),
        lane_(static_cast<int>(threadIdx.x) % 32),
        rank_(static_cast<int>(blockIdx.x) % Memory::kCluster),
        barriers_{memory_ + Memory::kBarrierAt} {
    const auto tile = blockIdx.x / Memory::kCluster;
    image_ = static_cast<int>(p_.strips.divide(tile));
    top_ = (static_cast<int>(tile) - image_ * static_cast<int>(p_.strips.divisor)) * p_.rows;
  }

  /// By all threads, together.
  __device__ __forceinline__ void run() const {
    if (warp_ == 0) {
      if (ptx::elected()) init_barriers();
    } else if (warp_ == 1) {
      for (const CUtensorMap* map : {&p_.x, &p_.shortcut, &p_.wide}) ptx::prefetch_map(*map);
    }
    __syncthreads();
    ptx::arrive_cluster();  // others may send from now on
    if (warp_ == 0) {
      if (ptx::elected()) copy_window();
      __syncwarp();
    } else {
      load_biases();
    }
    uint32_t filters[kSteps][4];
    load_window(filters);
    // Other filters come into their place: without the fence the copy unit writes while loads are on their
    // way.
    ptx::fence_for_copies();
    __syncthreads();
    if (warp_ == 0) {
      if (ptx::elected()) copy_filters();
      __syncwarp();
      ptx::wait_for_previous_kernel();
      if (ptx::elected()) copy_image();
      __syncwarp();
    }
    float sums[16];
    multiply_window(filters, sums);
    ptx::wait_cluster();
    send_window(sums);
    finish_window();
    expand_and_narrow();
    if constexpr (kNarrows) finish_narrow();
    if (warp_ == 0 && ptx::elected()) ptx::wait_stores_read();  // shared memory is the block's until it ends
  }

 private:
  static constexpr int kTaps = 9;
  /// Steps of 16 channels each: a warpgroup has 32 of the block's channels.
  static constexpr int kSteps = 2 * kTaps;
  using Sums = float (&)[16];

  /// Called by one thread. Each barrier waits for nothing but bytes: of the exchanges, those of other blocks.
  __device__ __forceinline__ void init_barriers() const {
    for (int i = 0; i < Memory::kBarriers; ++i) ptx::init_barrier(barriers_.start + 8 * i, 1);
    ptx::fence_barriers();
    ptx::expect_copies(barriers_.window(), Memory::kWindowBytes);
    ptx::expect_copies(barriers_.filters(), Memory::kExpandBytes + Memory::kNextBytes);
    ptx::expect_copies(barriers_.patch(), (p_.rows + 2) * row_bytes());
    ptx::expect_copies(barriers_.shortcut(), Memory::kWideSlabs * p_.rows * row_bytes());
    ptx::expect_copies(barriers_.window_parts(), (Memory::kWindowParts - 2) * Memory::kPart);
    ptx::expect_copies(barriers_.middle(), (Memory::kCluster - 1) * Memory::kFinished / 8 * Memory::kEight);
    if constexpr (kNarrows)
      ptx::expect_copies(barriers_.next_parts(), (Memory::kCluster - 1) * Memory::kPart);
  }

  /// Bytes of a row of a tile with its margins.
  __device__ __forceinline__ int row_bytes() const {
    return static_cast<int>(p_.pitch.divisor) * Memory::kRowBytes;
  }

  __device__ __forceinline__ int group() const { return warp_ / 4; }

  /// By way of shared memory: many loads by the threads would hold up those of the kernel ahead.
  __device__ __forceinline__ void copy_window() const {
    ptx::copy_bulk(memory_, static_cast<const char*>(p_.window) + rank_ * Memory::kWindowBytes,
                   Memory::kWindowBytes, barriers_.window());
  }

  __device__ __forceinline__ void load_window(uint32_t (&filters)[kSteps][4]) const {
    const uint32_t from =
        memory_ + static_cast<int>(threadIdx.x) * 16 + group() * (kSteps * Memory::kFragmentBytes - 128 * 16);
    ptx::wait_barrier(barriers_.window(), 0);
#pragma unroll
    for (int i = 0; i < kSteps; ++i) ptx::load_words(filters[i], from + i * Memory::kFragmentBytes);
  }

  /// Called by all warps but the first.
  __device__ __forceinline__ void load_biases() const {
    const auto value = [](const float* bias, int i) { return bias == nullptr ? 0.0f : bias[i]; };
    constexpr int kCount = Memory::kBiases - (kNarrows ? 0 : Memory::kFinished);
    for (int i = static_cast<int>(threadIdx.x) - 32; i < kCount; i += kThreads - 32) {
      const int finished = i - Memory::kExpanded;
      if (finished < 0) {
        biases()[i] = value(p_.expand_bias, rank_ * Memory::kExpanded + i);
      } else if (finished < Memory::kFinished) {
        biases()[i] = value(p_.window_bias, rank_ * Memory::kFinished + finished);
      } else {
        biases()[i] = value(p_.next_bias, (rank_ - 1) * Memory::kFinished + finished);
      }
    }
  }

  /// Biases of the expansion, then of the window, then of the next convolution.
  __device__ __forceinline__ float* biases() const {
    return reinterpret_cast<float*>(bytes_ + Memory::kBiasAt);
  }

  __device__ __forceinline__ void copy_filters() const {
    constexpr int kBytes = Memory::kExpandBytes;
    ptx::copy_bulk(memory_ + Memory::kExpandAt, static_cast<const char*>(p_.expand) + rank_ * kBytes, kBytes,
                   barriers_.filters());
    if constexpr (kNarrows) {
      ptx::copy_bulk(memory_ + Memory::kNextAt, static_cast<const char*>(p_.next) + rank_ * kBytes, kBytes,
                     barriers_.filters());
    }
  }

  /// Pixels outside of the image come as zeros.
  __device__ __forceinline__ void copy_image() const {
    ptx::copy_pixels(memory_ + Memory::kPatchAt, p_.x, barriers_.patch(), rank_ % Memory::kPieces * 64, -1,
                     top_ - 1, image_);
    for (int i = 0; i < Memory::kWideSlabs; ++i)
      ptx::copy_pixels(memory_ + Memory::kWideAt + i * Memory::kWideSlab, p_.shortcut, barriers_.shortcut(),
                       rank_ * Memory::kExpanded + i * 64, 0, top_, image_);
  }

  /// 64 filters, of the channels that the warpgroup has. A tap's pixels are the patch from another row on;
  /// columns that are no pixels of the tile hold anything and reach no result.
  __device__ __forceinline__ void multiply_window(const uint32_t (&filters)[kSteps][4], Sums sums) const {
    clear(sums);
    ptx::wait_barrier(barriers_.patch(), 0);
    // Not before: the next kernel's clusters would share the multiprocessors that this one leaves free, and
    // its filters come ahead of these pixels.
    if (p_.next_waits) ptx::allow_next_kernel();
    ptx::fence_sums();
    const uint64_t patch = ptx::matrix_descriptor(memory_ + Memory::kPatchAt) + group() * 4;
    const int pitch = static_cast<int>(p_.pitch.divisor);
#pragma unroll
    for (int tap = 0; tap < kTaps; ++tap) {
      const uint64_t pixels = patch + (tap / 3 * pitch + tap % 3) * (Memory::kRowBytes >> 4);
#pragma unroll
      for (int k = 0; k < 2; ++k) ptx::multiply<T, 32>(sums, filters[tap * 2 + k], pixels + k * 2);
    }
    ptx::commit_products();
    wait_for(sums);
  }

  /// Until all products are done: what reads the sums behind it stays behind it.
  static __device__ __forceinline__ void wait_for(Sums sums) {
    ptx::wait_products<0>();
#pragma unroll
    for (float& sum : sums) ptx::hold(sum);
  }

  static __device__ __forceinline__ void clear(Sums sums) {
#pragma unroll
    for (float& sum : sums) sum = 0;
  }

  /// Sends the sums to the blocks that finish these filters.
  __device__ __forceinline__ void send_window(const float (&sums)[16]) const {
    const int filter = warp_ % 4 * 16;
    const int piece = rank_ % Memory::kPieces;
    const int part = piece * 2 + group();
    send(sums, Memory::kWindowPartsAt + part * Memory::kPart, filter % Memory::kFinished,
         rank_ - piece + filter / Memory::kFinished, barriers_.window_parts());
  }

  /// A warp's 16 channels of all pixels to channels from `channel` on of the part at `place` of block
  /// `owner`.
  __device__ __forceinline__ void send(const float (&sums)[16], int place, int channel, int owner,
                                       uint32_t barrier) const {
    const bool own = owner == rank_;
    const int to = place + channel * Memory::kPixels * 4;
    const uint32_t remote = ptx::address_in_block(memory_ + to, owner);
    const uint32_t counted = ptx::address_in_block(barrier, owner);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int j = 0; j < 4; j += 2) {
        const float* const of = sums + 4 * j + 2 * half;
        const float4 four = four_neighbours(make_float2(of[0], of[1]), make_float2(of[4], of[5]), lane_);
        const int at = (2 * half + j / 2) * kSumRunBytes + sum_run_place(j / 2, lane_);
        if (own) {
          *reinterpret_cast<float4*>(bytes_ + to + at) = four;
        } else {
          ptx::store_counted(remote + at, four, counted);
        }
      }
    }
  }

  /// The sum of the parts that send() has brought for pixel `lane`, channel `channel`, added up in order.
  template <int kParts>
  __device__ __forceinline__ float total(int place, int channel, float bias) const {
    const auto* const from = reinterpret_cast<const float*>(bytes_ + place + channel / 8 * 2 * kSumRunBytes +
                                                            sum_place(lane_, channel % 8));
    float sum = bias;
#pragma unroll
    for (int part = 0; part < kParts; ++part) sum += from[part * (Memory::kPart / 4)];
    return sum;
  }

  /// Some channels of a pixel a thread, and then all that the block has finished to the other blocks.
  __device__ __forceinline__ void finish_window() const {
    constexpr int kEach = Memory::kFinished / 8;
    const int first = warp_ * kEach;
    const float* const bias = biases() + Memory::kExpanded + first;
    ptx::wait_received(barriers_.window_parts());
    __syncthreads();  // the block's own parts, and biases
    const PairFinish<T, StreamKind::kBounds> finish(p_.window_bounds);
    const int place = Memory::kMiddleAt + rank_ * Memory::kFinished / 8 * Memory::kEight;
#pragma unroll
    for (int i = 0; i < kEach; i += 2) {
      const float x = total<Memory::kWindowParts>(Memory::kWindowPartsAt, first + i, bias[i]);
      const float y = total<Memory::kWindowParts>(Memory::kWindowPartsAt, first + i + 1, bias[i + 1]);
      uint32_t pair;
      finish.run(make_float2(x, y), pair);
      const int channel = first + i;
      *reinterpret_cast<uint32_t*>(bytes_ + place + channel / 8 * Memory::kEight + lane_ * 16 +
                                   channel % 8 * 2) = pair;
    }
    __syncthreads();
    constexpr int kEights = Memory::kFinished / 8;
    const int from = place + warp_ % kEights * Memory::kEight + lane_ * 16;
    const float4 eight = *reinterpret_cast<const float4*>(bytes_ + from);
#pragma unroll
    for (int i = 0; i < (Memory::kCluster - 1) * kEights; i += 8) {
      // Not all to the same one at once.
      const int receiver = 1 + (i + warp_) / kEights;
      if (receiver >= Memory::kCluster) break;
      const int rank = (rank_ + receiver) % Memory::kCluster;
      ptx::store_counted(ptx::address_in_block(memory_ + from, rank), eight,
                         ptx::address_in_block(barriers_.middle(), rank));
    }
  }

  /// Eight fragments of the warpgroup's filters, of those at `place`: 32 registers.
  __device__ __forceinline__ void load_fragments(int place, uint32_t (&to)[8][4]) const {
    const uint32_t from = memory_ + place + static_cast<int>(threadIdx.x) * 16 +
                          group() * (8 * Memory::kFragmentBytes - 128 * 16);
#pragma unroll
    for (int i = 0; i < 8; ++i) ptx::load_words(to[i], from + i * Memory::kFragmentBytes);
  }

  /// A warpgroup has eight fragments of the filters of either convolution: 64 filters of the expansion, or
  /// half the depth of 64.
  __device__ __forceinline__ void expand_and_narrow() const {
    uint32_t filters[8][4];
    uint32_t next[8][4];
    ptx::wait_barrier(barriers_.filters(), 0);
    load_fragments(Memory::kExpandAt, filters);
    if constexpr (kNarrows) load_fragments(Memory::kNextAt, next);
    expand(filters);
    if constexpr (kNarrows) narrow(next);
  }

  /// The expansion with the shortcut.
  __device__ __forceinline__ void expand(const uint32_t (&filters)[8][4]) const {
    constexpr bool kHalves = Memory::kWideSlabs == 1;
    float sums[16];
    begin_with_bias(sums);
    ptx::wait_received(barriers_.middle());
    ptx::fence_for_copies();
    ptx::fence_sums();
    const uint64_t middle = ptx::plain_descriptor(
        memory_ + Memory::kMiddleAt + (kHalves ? group() * 16 * Memory::kEight : 0), Memory::kEight, 128);
#pragma unroll
    for (int k = 0; k < 8; ++k)
      ptx::multiply<T, 32>(sums, filters[k], middle + k * (2 * Memory::kEight >> 4));
    ptx::commit_products();
    wait_for(sums);
    if constexpr (kNarrows) ptx::arrive_cluster();  // the place of the expansion's filters is free
    if constexpr (kHalves) {
      float mine[8];
      add_halves(sums, mine);
      add_shortcut<1>(mine, 0, group());
    } else {
      add_shortcut<2>(sums, group(), 0);
    }
    ptx::fence_for_copies();
    __syncthreads();
    if (warp_ == 0 && ptx::elected()) store_wide();
    __syncwarp();
  }

  /// All filters of the next convolution, of the channels that the block has made, sent to the blocks that
  /// finish them.
  __device__ __forceinline__ void narrow(const uint32_t (&filters)[8][4]) const {
    constexpr int kTiles = kChannels / 128;  // of 64 filters, a warpgroup
    float sums[kTiles][16];
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) clear(sums[tile]);
    ptx::fence_sums();
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
      for (int k = 0; k < 8 / kTiles; ++k) {
        const uint64_t pixels =
            ptx::matrix_descriptor(memory_ + Memory::kWideAt + k / 4 * Memory::kWideSlab) + k % 4 * 2;
        ptx::multiply<T, 32>(sums[tile], filters[tile * (8 / kTiles) + k], pixels);
      }
    }
    ptx::commit_products();
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) wait_for(sums[tile]);
    ptx::wait_cluster();
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      const int filter = (group() * kTiles + tile) * 64 + warp_ % 4 * 16;
      send(sums[tile], Memory::kNextPartsAt + rank_ * Memory::kPart, filter % Memory::kFinished,
           filter / Memory::kFinished, barriers_.next_parts());
    }
  }

  /// If two warpgroups have multiplied half the depth each, one begins with zeros.
  __device__ __forceinline__ void begin_with_bias(Sums sums) const {
    if (Memory::kWideSlabs == 1 && group() == 1) return clear(sums);
    const float* const bias = biases() + group() * 64 + warp_ % 4 * 16 + lane_ / 4;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      sums[4 * j] = sums[4 * j + 1] = bias[0];
      sums[4 * j + 2] = sums[4 * j + 3] = bias[8];
    }
  }

  /// Both warpgroups' sums of 16 pixels, of the first ones for the first warpgroup. Through the place of the
  /// window's parts.
  __device__ __forceinline__ void add_halves(const float (&sums)[16], float (&mine)[8]) const {
    const bool second = group() == 1;
    auto* const place = reinterpret_cast<float4*>(bytes_ + Memory::kWindowPartsAt) + threadIdx.x % 128;
#pragma unroll
    for (int i = 0; i < 8; i += 4) {
      const auto other = [&](int k) { return second ? sums[i + k] : sums[8 + i + k]; };
      place[(second * 2 + i / 4) * 128] = make_float4(other(0), other(1), other(2), other(3));
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; i += 4) {
      const float4 four = place[(2 - second * 2 + i / 4) * 128];
      const auto own = [&](int k) { return second ? sums[8 + i + k] : sums[i + k]; };
      mine[i] = own(0) + four.x;
      mine[i + 1] = own(1) + four.y;
      mine[i + 2] = own(2) + four.z;
      mine[i + 3] = own(3) + four.w;
    }
  }

  __device__ __forceinline__ void store_wide() const {
    for (int i = 0; i < Memory::kWideSlabs; ++i)
      ptx::store_pixels(p_.wide, memory_ + Memory::kWideAt + i * Memory::kWideSlab,
                        rank_ * Memory::kExpanded + i * 64, 0, top_, image_);
    ptx::commit_stores();
  }

  /// Adds the shortcut of kCount times 16 pixels from `first` times 16 on. Channels are rows of sums and
  /// columns of slabs: matrices of 8 x 8 are transposed on their way.
  template <int kCount>
  __device__ __forceinline__ void add_shortcut(const float (&sums)[8 * kCount], int slab, int first) const {
    constexpr int kBytes = 16 * Memory::kRowBytes;
    const PairFinish<T, StreamKind::kAdd> finish(p_.wide_bounds);
    const int run = warp_ % 4 * 2 + lane_ / 8 % 2;
    const uint32_t corner = memory_ + Memory::kWideAt + slab * Memory::kWideSlab + first * kBytes +
                            (lane_ / 16 * 8 + lane_ % 8) * Memory::kRowBytes + (run ^ lane_ % 8) * 16;
    ptx::wait_barrier(barriers_.shortcut(), 0);
    uint32_t pairs[kCount][4];
#pragma unroll
    for (int j = 0; j < kCount; ++j) ptx::load_matrix_x4_transposed(pairs[j], corner + j * kBytes);
    __syncwarp();
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        finish.run(make_float2(sums[8 * j + 2 * i], sums[8 * j + 2 * i + 1]), pairs[j][i]);
      ptx::store_matrix_x4_transposed(corner + j * kBytes, pairs[j]);
    }
  }

  /// Neighbouring channels of a pixel a thread.
  __device__ __forceinline__ void finish_narrow() const {
    constexpr int kEach = Memory::kFinished / 8;
    const int first = warp_ * kEach;
    const float* const bias = biases() + Memory::kExpanded + Memory::kFinished + first;
    const int row = static_cast<int>(p_.pitch.divide(lane_));
    const int x = lane_ - row * static_cast<int>(p_.pitch.divisor);
    const int y = top_ + row;
    const bool valid = row < p_.rows && x < p_.width && y < p_.height;
    const size_t pixel = (static_cast<size_t>(image_) * p_.height + y) * p_.width + x;
    T* const to = static_cast<T*>(p_.narrow) + pixel * kChannels + rank_ * Memory::kFinished + first;
    const PairFinish<T, StreamKind::kBounds> finish(p_.narrow_bounds);
    ptx::wait_received(barriers_.next_parts());
    __syncthreads();  // the block's own part
    float values[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i)
      values[i] = total<Memory::kCluster>(Memory::kNextPartsAt, first + i, bias[i]);
    uint32_t pairs[kEach / 2];
#pragma unroll
    for (int i = 0; i < kEach; i += 2) finish.run(make_float2(values[i], values[i + 1]), pairs[i / 2]);
    if (!valid) return;
    if constexpr (kEach == 4) {
      *reinterpret_cast<uint2*>(to) = make_uint2(pairs[0], pairs[1]);
    } else {
      *reinterpret_cast<uint32_t*>(to) = pairs[0];
    }
  }

  const ClusterBottleneckParams& p_;
  unsigned char* bytes_;
  uint32_t memory_;
  int warp_;
  int lane_;
  int rank_;
  int image_;
  int top_;
  ClusterBottleneckBarriers barriers_;
};

template <class T, int kChannels, bool kNarrows>
__global__ void __launch_bounds__(ClusterBottleneckBlock<T, kChannels, kNarrows>::kThreads, 2)
    cluster_bottleneck_kernel(const __grid_constant__ ClusterBottleneckParams p, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  extern __shared__ __align__(1024) unsigned char memory[];
  ClusterBottleneckBlock<T, kChannels, kNarrows>(p, memory).run();
}

}  // namespace hone::device::cuda
