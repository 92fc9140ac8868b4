// The kernel of warpgroup_stationary.hpp. A block has the filters of two warpgroups, whose sums, and those of
// the cluster's other blocks, are added up by the block that finishes some of the filters.
#pragma once

#include "device/cuda/plugin/kernels/kernel_stamp.cuh"
#include "device/cuda/plugin/kernels/left_matrices.cuh"
#include "device/cuda/plugin/kernels/sum_runs.cuh"
#include "device/cuda/plugin/kernels/warpgroup_gemm_finish.cuh"
#include "device/cuda/plugin/kernels/warpgroup_stationary_params.hpp"

namespace hone::device::cuda {

/// kParts: blocks of a cluster.
template <class T, int kColumns, int kParts>
class StationaryBlock {
 public:
  __device__ __forceinline__ StationaryBlock(const StationaryParams& params, unsigned char* memory)
      : p_(params),
        bytes_(memory),
        memory_(ptx::shared_address(memory)),
        warp_(ptx::warp()),
        lane_(static_cast<int>(threadIdx.x) % 32) {
    const int cluster = static_cast<int>(blockIdx.x) / kParts;
    rank_ = static_cast<int>(blockIdx.x) % kParts;
    first_tile_ = static_cast<int>(p_.filter_groups.divide(cluster));
    filter_group_ = cluster - first_tile_ * static_cast<int>(p_.filter_groups.divisor);
    tiles_ = (p_.tiles - first_tile_ + p_.tile_groups - 1) / p_.tile_groups;
  }

  /// By all threads, together. Each tile has memory of its own, so that nobody waits for room.
  __device__ __forceinline__ void run() const {
    if (warp_ == 0) {
      if (ptx::elected()) init_barriers();
      __syncwarp();
    } else if (warp_ == 1) {
      ptx::prefetch_map(p_.x);
    }
    __syncthreads();
    if (kParts > 1) ptx::arrive_cluster();  // others may send from now on
    load_bias();
    uint32_t filters[kSteps][4];
    const int slice = (filter_group_ * kParts + rank_) * 2 + group();
    load_left(filters, static_cast<const uint4*>(p_.filters) + slice * kSteps * 128);
    ptx::wait_for_previous_kernel();
    if (warp_ == 0) copy_pixels();
    for (int i = 0; i <= tiles_; ++i) {
      if (i != tiles_) {
        float sums[kColumns / 2];
        multiply(i, filters, sums);
        if (i == 0 && kParts > 1) ptx::wait_cluster();
        send(i, sums);
      }
      if (i != 0) finish(i - 1);
    }
  }

 private:
  static constexpr int kTaps = 9;
  static constexpr int kSteps = kTaps * 4;
  static constexpr int kRowBytes = 128;
  static constexpr int kEights = kColumns / 8;
  static constexpr int kGroups = (kColumns + 31) / 32;
  static constexpr int kWarps = kStationaryThreads / 32;
  static constexpr int kFinished = 64 / kParts;  ///< filters that a block finishes
  static constexpr int kEightsFinished = kFinished / 8;
  /// Sums of one warpgroup, of these filters: [32 pixels each][8 filters each][2 runs].
  static constexpr int kPartBytes = kGroups * kEightsFinished * 2 * kSumRunBytes;
  /// Of 32 pixels and eight filters: a warp has those of the same filters.
  static constexpr int kUnits = kGroups * kEightsFinished;
  static constexpr int kUnitsOfWarp = (kUnits + kWarps - 1) / kWarps;
  static_assert(kWarps % kEightsFinished == 0);

  __device__ __forceinline__ int group() const { return warp_ / 4; }
  __device__ __forceinline__ int tile_at(int i) const { return i * p_.tile_bytes; }
  __device__ __forceinline__ int parts_at(int i) const { return tile_at(i) + 2 * p_.slab_bytes; }
  /// Behind the tiles: two barriers of each, then biases.
  __device__ __forceinline__ int barriers_at() const { return p_.most_tiles * p_.tile_bytes; }
  __device__ __forceinline__ uint32_t pixels_came(int i) const { return memory_ + barriers_at() + i * 16; }
  __device__ __forceinline__ uint32_t parts_came(int i) const { return pixels_came(i) + 8; }
  __device__ __forceinline__ float* biases() const {
    return reinterpret_cast<float*>(bytes_ + barriers_at() + p_.most_tiles * 16);
  }
  /// Of 64 channels, with the rows around it and one more.
  __device__ __forceinline__ int copied_bytes() const {
    return (p_.rows + 3) * static_cast<int>(p_.pitch.divisor) * kRowBytes;
  }

  /// By one thread. Each barrier waits for nothing but bytes; what other blocks send comes in pairs of runs.
  __device__ __forceinline__ void init_barriers() const {
    for (int i = 0; i < tiles_; ++i) {
      ptx::init_barrier(pixels_came(i), 1);
      ptx::init_barrier(parts_came(i), 1);
    }
    ptx::fence_barriers();
    for (int i = 0; i < tiles_; ++i) {
      ptx::expect_copies(pixels_came(i), 2 * copied_bytes());
      ptx::expect_copies(parts_came(i),
                         2 * (kParts - 1) * kEightsFinished * ((kEights + 1) / 2) * kSumRunBytes);
    }
  }

  __device__ __forceinline__ void load_bias() const {
    const int i = static_cast<int>(threadIdx.x);
    if (i < kFinished)
      biases()[i] = p_.bias == nullptr ? 0 : __ldg(p_.bias + filter_group_ * 64 + rank_ * kFinished + i);
    __syncwarp();
  }

  struct Tile {
    int image;
    int top;
  };
  __device__ __forceinline__ Tile tile(int i) const {
    const int number = first_tile_ + i * p_.tile_groups;
    const int image = static_cast<int>(p_.strips.divide(number));
    return {image, (number - image * static_cast<int>(p_.strips.divisor)) * p_.rows};
  }

  /// By a warp. What lies outside of the image comes as zeros; the column between two rows is that left of
  /// the second and right of the first.
  __device__ __forceinline__ void copy_pixels() const {
    for (int i = 0; i < tiles_; ++i) {
      const Tile at = tile(i);
      if (ptx::elected()) {
        for (int slab = 0; slab < 2; ++slab)
          ptx::copy_pixels(memory_ + tile_at(i) + slab * p_.slab_bytes, p_.x, pixels_came(i),
                           (rank_ * 2 + slab) * 64, -1, at.top - 1, at.image);
      }
      __syncwarp();
    }
  }

  /// 64 filters of the warpgroup's channels. A tap's pixels are the slab from another row on; columns that
  /// are no pixels of the tile hold anything and reach no result.
  __device__ __forceinline__ void multiply(int i, const uint32_t (&filters)[kSteps][4],
                                           float (&sums)[kColumns / 2]) const {
#pragma unroll
    for (float& sum : sums) {
      sum = 0;
      ptx::hold(sum);
    }
    ptx::wait_barrier(pixels_came(i), 0);
    // Not before: the next kernel's blocks would begin on multiprocessors that this one leaves free.
    if (i == 0 && p_.next_waits) ptx::allow_next_kernel();
    ptx::fence_sums();
    const uint64_t slab = ptx::matrix_descriptor(memory_ + tile_at(i) + group() * p_.slab_bytes);
    const int pitch = static_cast<int>(p_.pitch.divisor);
#pragma unroll
    for (int tap = 0; tap < kTaps; ++tap) {
      const uint64_t pixels = slab + (tap / 3 * pitch + tap % 3) * (kRowBytes >> 4);
#pragma unroll
      for (int k = 0; k < 4; ++k) ptx::multiply<T, kColumns>(sums, filters[tap * 4 + k], pixels + k * 2);
    }
    ptx::commit_products();
    ptx::wait_products<0>();
#pragma unroll
    for (float& sum : sums) ptx::hold(sum);
  }

  /// A warp's 16 filters of all pixels to the block that finishes them.
  __device__ __forceinline__ void send(int i, const float (&sums)[kColumns / 2]) const {
    const int filter = warp_ % 4 * 16;
    const int owner = filter / kFinished;
    const int place =
        parts_at(i) + (rank_ * 2 + group()) * kPartBytes + filter % kFinished / 8 * 2 * kSumRunBytes;
    const bool own = owner == rank_;
    const uint32_t remote = own ? 0 : ptx::address_in_block(memory_ + place, owner);
    const uint32_t counted = own ? 0 : ptx::address_in_block(parts_came(i), owner);
#pragma unroll
    for (int j = 0; j < kEights; j += 2) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float* const of = sums + 4 * j + 2 * half;
        const float2 second = j + 1 == kEights ? make_float2(0, 0) : make_float2(of[4], of[5]);
        const float4 four = four_neighbours(make_float2(of[0], of[1]), second, lane_);
        const int run = j / 2 % 2;
        const int at =
            (j / 4 * kEightsFinished * 2 + 2 * half + run) * kSumRunBytes + sum_run_place(run, lane_);
        if (own) {
          *reinterpret_cast<float4*>(bytes_ + place + at) = four;
        } else {
          ptx::store_counted(remote + at, four, counted);
        }
      }
    }
  }

  /// A pixel of a tile, and the place of its first filter that this thread finishes; -1 where it is none.
  __device__ __forceinline__ int64_t result_at(const Tile& at, int unit) const {
    const int column = unit / kEightsFinished * 32 + lane_;
    const int row = static_cast<int>(p_.pitch.divide(column));
    const int x = column - row * static_cast<int>(p_.pitch.divisor);
    if (unit >= kUnits || row >= p_.rows || x >= p_.width || at.top + row >= p_.height) return -1;
    const int64_t pixel = (static_cast<int64_t>(at.image) * p_.height + at.top + row) * p_.width + x;
    return pixel * static_cast<int>(p_.filter_groups.divisor) * 64 + filter_group_ * 64 + rank_ * kFinished +
           unit % kEightsFinished * 8;
  }

  /// Eight filters of a pixel a thread, with what is added, which comes meanwhile.
  __device__ __forceinline__ void finish(int i) const {
    const Tile at = tile(i);
    uint4 added[kUnitsOfWarp];
    int64_t to[kUnitsOfWarp];
#pragma unroll
    for (int u = 0; u < kUnitsOfWarp; ++u) {
      to[u] = result_at(at, warp_ + u * kWarps);
      added[u] = make_uint4(0, 0, 0, 0);
      if (p_.operand != nullptr && to[u] >= 0)
        added[u] = *reinterpret_cast<const uint4*>(static_cast<const T*>(p_.operand) + to[u]);
    }
    if (kParts > 1) ptx::wait_received(parts_came(i));
    __syncthreads();  // the block's own sums, and biases
    const PairFinish<T, StreamKind::kBounds> bounds(p_.epilogue);
#pragma unroll
    for (int u = 0; u < kUnitsOfWarp; ++u) {
      const int unit = warp_ + u * kWarps;
      if (to[u] >= 0) {
        const uint32_t words[4] = {added[u].x, added[u].y, added[u].z, added[u].w};
        uint32_t result[4];
        float sums[8];
        add_up(parts_at(i) + unit * 2 * kSumRunBytes, biases() + unit % kEightsFinished * 8, sums);
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const float2 operand = widen(reinterpret_cast<const typename PairOf<T>::Type&>(words[k]));
          bounds.run(make_float2(sums[2 * k] + operand.x, sums[2 * k + 1] + operand.y), result[k]);
        }
        *reinterpret_cast<uint4*>(static_cast<T*>(p_.y) + to[u]) =
            make_uint4(result[0], result[1], result[2], result[3]);
      }
    }
    __syncwarp();
  }

  /// What send() has brought of pixel `lane` of 32 and eight filters, part by part, behind the bias.
  __device__ __forceinline__ void add_up(int place, const float* bias, float (&sums)[8]) const {
#pragma unroll
    for (int filter = 0; filter < 8; ++filter) {
      const unsigned char* const from = bytes_ + place + sum_place(lane_, filter);
      float parts[2 * kParts];
#pragma unroll
      for (int part = 0; part < 2 * kParts; ++part)
        parts[part] = *reinterpret_cast<const float*>(from + part * kPartBytes);
      sums[filter] = bias[filter];
#pragma unroll
      for (int part = 0; part < 2 * kParts; ++part) sums[filter] += parts[part];
    }
  }

  const StationaryParams& p_;
  unsigned char* bytes_;
  uint32_t memory_;
  int warp_;
  int lane_;
  int rank_;
  int first_tile_;
  int filter_group_;
  int tiles_;
};

template <class T, int kColumns, int kParts>
__global__ void __launch_bounds__(kStationaryThreads, 1)
    warpgroup_stationary(const __grid_constant__ StationaryParams p, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  extern __shared__ __align__(1024) unsigned char memory[];
  StationaryBlock<T, kColumns, kParts>(p, memory).run();
}

}  // namespace hone::device::cuda
