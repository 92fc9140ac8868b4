// The kernel of warpgroup_stationary.hpp. A block has the filters of two warpgroups, whose sums, and those of
// the cluster's other blocks, are added up by the block that finishes some of the filters.
#pragma once

#include "device/cuda/plugin/kernels/kernel_stamp.cuh"
#include "device/cuda/plugin/kernels/warpgroup_gemm_finish.cuh"
#include "device/cuda/plugin/kernels/warpgroup_stationary_params.hpp"

namespace hone::device::cuda {

template <class T, int kColumns>
class StationaryBlock {
 public:
  __device__ __forceinline__ StationaryBlock(const StationaryParams& params, unsigned char* memory)
      : p_(params),
        bytes_(memory),
        memory_(ptx::shared_address(memory)),
        warp_(ptx::warp()),
        lane_(static_cast<int>(threadIdx.x) % 32) {
    const int cluster = static_cast<int>(blockIdx.x) / p_.parts;
    rank_ = static_cast<int>(blockIdx.x) - cluster * p_.parts;
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
    if (p_.parts > 1) ptx::arrive_cluster();  // others may send from now on
    uint32_t filters[kSteps][4];
    load_filters(filters);
    if (warp_ == 0) {
      ptx::wait_for_previous_kernel();
      if (ptx::elected()) copy_pixels();
      __syncwarp();
    }
    for (int i = 0; i < tiles_; ++i) {
      float sums[kColumns / 2];
      multiply(i, filters, sums);
      if (i == 0 && p_.parts > 1) ptx::wait_cluster();
      send(i, sums);
      if (i != 0) finish(i - 1);
    }
    finish(tiles_ - 1);
  }

 private:
  static constexpr int kTaps = 9;
  static constexpr int kSteps = kTaps * 4;
  static constexpr int kRowBytes = 128;
  static constexpr int kEights = kColumns / 8;
  static constexpr int kGroups = (kColumns + 31) / 32;
  /// Of eight channels and 16 pixels: what a warp stores at once.
  static constexpr int kRun = 512;

  __device__ __forceinline__ int group() const { return warp_ / 4; }
  /// Filters that this block finishes.
  __device__ __forceinline__ int finished() const { return 64 / p_.parts; }
  /// Sums of one warpgroup, of these filters: [32 pixels][8 filters][2 runs].
  __device__ __forceinline__ int part_bytes() const { return kGroups * finished() * 32 * 4; }
  __device__ __forceinline__ int tile_at(int i) const { return i * p_.tile_bytes; }
  __device__ __forceinline__ int parts_at(int i) const { return tile_at(i) + 2 * p_.slab_bytes; }
  __device__ __forceinline__ uint32_t barriers() const { return memory_ + p_.most_tiles * p_.tile_bytes; }
  __device__ __forceinline__ uint32_t pixels_came(int i) const { return barriers() + i * 16; }
  __device__ __forceinline__ uint32_t parts_came(int i) const { return pixels_came(i) + 8; }
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
      ptx::expect_copies(parts_came(i), 2 * (p_.parts - 1) * (finished() / 8) * ((kEights + 1) / 2) * kRun);
    }
  }

  __device__ __forceinline__ void load_filters(uint32_t (&to)[kSteps][4]) const {
    const int slice = (filter_group_ * p_.parts + rank_) * 2 + group();
    const auto* const from = static_cast<const uint4*>(p_.filters) + slice * kSteps * 128 + threadIdx.x % 128;
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      const uint4 four = ptx::load_constant(from + i * 128);
      to[i][0] = four.x;
      to[i][1] = four.y;
      to[i][2] = four.z;
      to[i][3] = four.w;
    }
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

  /// By one thread. What lies outside of the image comes as zeros; the column between two rows is that left
  /// of the second and right of the first.
  __device__ __forceinline__ void copy_pixels() const {
    for (int i = 0; i < tiles_; ++i) {
      const Tile at = tile(i);
      for (int slab = 0; slab < 2; ++slab)
        ptx::copy_pixels(memory_ + tile_at(i) + slab * p_.slab_bytes, p_.x, pixels_came(i),
                         (rank_ * 2 + slab) * 64, -1, at.top - 1, at.image);
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

  /// A warp's 16 filters of all pixels to the block that finishes them, each store to 512 bytes in a row: it
  /// is stores that the way to other blocks counts, not bytes. Of two times eight pixels a thread has two
  /// neighbours each; one with an even number takes four of the first, others of the second.
  __device__ __forceinline__ void send(int i, const float (&sums)[kColumns / 2]) const {
    const bool odd = lane_ % 2 != 0;
    const int filter = warp_ % 4 * 16;
    const int owner = filter / finished();
    const int place =
        parts_at(i) + (rank_ * 2 + group()) * part_bytes() + (filter - owner * finished()) / 8 * 2 * kRun;
    const bool own = owner == rank_;
    const uint32_t remote = own ? 0 : ptx::address_in_block(memory_ + place, owner);
    const uint32_t counted = own ? 0 : ptx::address_in_block(parts_came(i), owner);
#pragma unroll
    for (int j = 0; j < kEights; j += 2) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float* const first = sums + 4 * j + 2 * half;
        const bool single = j + 1 == kEights;
        const float second[2] = {single ? 0 : first[4], single ? 0 : first[5]};
        const float x = ptx::from_neighbour(odd ? first[0] : second[0]);
        const float y = ptx::from_neighbour(odd ? first[1] : second[1]);
        const float4 four =
            odd ? make_float4(x, y, second[0], second[1]) : make_float4(first[0], first[1], x, y);
        // Runs of odd numbers are turned by four lanes, so that reading them meets no bank twice.
        const int run = j / 2 % 2;
        const int at = j / 4 * finished() / 8 * 2 * kRun + (2 * half + run) * kRun + (lane_ ^ 4 * run) * 16;
        if (own) {
          *reinterpret_cast<float4*>(bytes_ + place + at) = four;
        } else {
          ptx::store_counted(remote + at, four, counted);
        }
      }
    }
  }

  /// What send() has brought of pixel `lane` of 32 and filter `filter` of eight, at `from`, added up in
  /// order.
  __device__ __forceinline__ float total(const unsigned char* from, int filter) const {
    const int four = lane_ / 4;
    const int sender = (filter * 4 + four % 2 * 2 + four % 4 / 2) ^ four / 4 * 4;
    const unsigned char* at = from + four / 4 * kRun + sender * 16 + lane_ % 4 * 4;
    float sum = 0;
    for (int part = 0; part < 2 * p_.parts; ++part, at += part_bytes())
      sum += *reinterpret_cast<const float*>(at);
    return sum;
  }

  /// Eight filters of a pixel a thread.
  __device__ __forceinline__ void finish(int i) const {
    if (p_.parts > 1) ptx::wait_received(parts_came(i));
    __syncthreads();  // the block's own sums
    const Tile at = tile(i);
    const int eights = finished() / 8;
    const PairFinish<T, StreamKind::kBounds> bounds(p_.epilogue);
    for (int unit = warp_; unit < kGroups * eights; unit += kStationaryThreads / 32) {
      const int pixels = unit / eights;
      const int eight = unit - pixels * eights;
      const int column = pixels * 32 + lane_;
      const int row = static_cast<int>(p_.pitch.divide(column));
      const int x = column - row * static_cast<int>(p_.pitch.divisor);
      if (row >= p_.rows || x >= p_.width || at.top + row >= p_.height) continue;
      const int filter = filter_group_ * 64 + rank_ * finished() + eight * 8;
      const int64_t pixel = (static_cast<int64_t>(at.image) * p_.height + at.top + row) * p_.width + x;
      const int64_t to = pixel * static_cast<int>(p_.filter_groups.divisor) * 64 + filter;
      const unsigned char* const from = bytes_ + parts_at(i) + (pixels * eights + eight) * 2 * kRun;
      uint4 added = make_uint4(0, 0, 0, 0);
      if (p_.operand != nullptr)
        added = *reinterpret_cast<const uint4*>(static_cast<const T*>(p_.operand) + to);
      const uint32_t words[4] = {added.x, added.y, added.z, added.w};
      uint32_t result[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        float2 pair = make_float2(total(from, 2 * k), total(from, 2 * k + 1));
        if (p_.bias != nullptr) {
          pair.x += __ldg(p_.bias + filter + 2 * k);
          pair.y += __ldg(p_.bias + filter + 2 * k + 1);
        }
        const float2 operand = widen(reinterpret_cast<const typename PairOf<T>::Type&>(words[k]));
        bounds.run(make_float2(pair.x + operand.x, pair.y + operand.y), result[k]);
      }
      *reinterpret_cast<uint4*>(static_cast<T*>(p_.y) + to) =
          make_uint4(result[0], result[1], result[2], result[3]);
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

template <class T, int kColumns>
__global__ void __launch_bounds__(kStationaryThreads, 1)
    warpgroup_stationary(const __grid_constant__ StationaryParams p, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  extern __shared__ __align__(1024) unsigned char memory[];
  StationaryBlock<T, kColumns>(p, memory).run();
}

}  // namespace hone::device::cuda
