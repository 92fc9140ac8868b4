// The kernel of warpgroup_stationary.hpp. A block has the filters of two warpgroups, 64 channels each. The
// sums of the same pixels and filters lie in the same registers of the same lanes everywhere, so that they
// are added up in place: first those of the two warpgroups, each of which finishes every second group of
// eight columns, then those of the cluster's blocks.
#pragma once

#include "device/cuda/plugin/kernels/common/kernel_stamp.cuh"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_finish.cuh"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_stationary_params.hpp"

namespace hone::device::cuda {

/// kParts is the number of blocks in a cluster.
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

  /// Called by all threads together. Each tile has its own
  /// memory and registers, so that no thread waits for room.
  __device__ __forceinline__ void run() const {
    if (warp_ == kCopier) {
      copy();
      return;
    }
    const float2 bias = load_bias();
    int places[kPieces];
    find_places(places);
    __syncthreads();
    Kept kept[kTiles];
    {
      float sums[kTiles][kSums];
#pragma unroll
      for (int i = 0; i < kTiles; ++i) {
        if (has_tile(i)) multiply(i, sums[i]);
      }
      // No memory ordering is needed: all products and copies have completed, and products write no memory.
      if (kParts > 1) ptx::arrive_cluster();
      exchange(sums, kept);
    }
    // Every block has used all its filters, so that the sums of other blocks can overwrite them.
    if (kParts > 1) ptx::wait_cluster();
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
      if (kParts > 1 && has_tile(i)) send(i, kept[i]);
    }
    ptx::wait_for_previous_kernel();
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
      if (has_tile(i)) finish(i, kept[i], bias, places);
    }
  }

 private:
  static constexpr int kTaps = 9;
  static constexpr int kRowBytes = 128;
  static constexpr int kTapBytes = 64 * kRowBytes;
  static constexpr int kGroupBytes = kTaps * kTapBytes;  ///< filters of a warpgroup
  static constexpr int kCopier = 8;
  /// Filters are copied in kFilterCopies parts of 1, 2, 3 and 3 taps, so that products can begin early.
  static constexpr int kFilterCopies = 4;
  static constexpr __device__ int first_tap(int copy) { return min(copy * (copy + 1) / 2, kTaps); }

  static constexpr int kSums = kColumns / 2;
  static constexpr int kEights = kColumns / 8;
  static constexpr int kKept = (kEights + 1) / 2;  ///< groups of eight; a second warpgroup may have one less
  static constexpr int kOwned = (kKept + kParts - 1) / kParts;  ///< the number of these that a block finishes
  static constexpr int kEightBytes = 128 * 16;                  ///< a warpgroup's sums of eight columns
  static constexpr int kPieces = (kOwned + 1) / 2;              ///< groups of 16 pixels of results
  static constexpr int kTiles = most_stationary_tiles(kColumns);
  static constexpr int kBarriersAt = 2 * kGroupBytes;
  static constexpr int kSlabAlignment = 1024;  ///< the period of the swizzle
  static constexpr int kGroupBarriers = kFilterCopies + 2 * kTiles;
  static_assert(2 * kGroupBarriers * 8 <= kSlabAlignment);
  using Kept = float4[kKept];
  static constexpr int kNoPlace = 0x7fffffff;

  /// Every block has at least one tile.
  __device__ __forceinline__ bool has_tile(int i) const { return i == 0 || i < tiles_; }
  __device__ __forceinline__ int group() const { return warp_ / 4; }
  /// Layout: [warpgroup][tap], then the barriers, then the two slabs of pixels of each tile.
  __device__ __forceinline__ int filters_at(int group, int tap) const {
    return group * kGroupBytes + tap * kTapBytes;
  }
  __device__ __forceinline__ int slab_at(int i, int group) const {
    return kBarriersAt + kSlabAlignment + (2 * i + group) * p_.slab_bytes;
  }
  /// The address at which warpgroup `group` leaves this lane's sums of eight columns for the other one. It
  /// lies in the group's slab, whose products are complete.
  __device__ __forceinline__ float4& given(int i, int group, int e) const {
    return *reinterpret_cast<float4*>(bytes_ + slab_at(i, group) + e * kEightBytes + lane_place());
  }
  /// Offset of the sums of warpgroup `group` that come from another block and overwrite filters. `from`
  /// counts the kParts - 1 other blocks, starting with the one after this block.
  __device__ __forceinline__ int received_at(int i, int group, int from, int j) const {
    return (((2 * i + group) * (kParts - 1) + from) * kOwned + j) * kEightBytes + lane_place();
  }
  /// After those, a warp's results of 16 filters lie as 32 bytes for each pixel. The two halves are swapped
  /// every four pixels to avoid bank conflicts.
  __device__ __forceinline__ int result_at(int pixel, int half) const {
    static_assert(kTiles * 2 * (kParts - 1) * kOwned * kEightBytes <= kGroupBytes);
    return kGroupBytes + (warp_ * kPieces * 16 + pixel) * 32 + (half ^ (pixel / 4 & 1)) * 16;
  }
  __device__ __forceinline__ int lane_place() const { return (warp_ % 4 * 32 + lane_) * 16; }
  /// Barriers of each warpgroup: for its filters, and for each tile's pixels and received sums.
  __device__ __forceinline__ uint32_t barrier(int group, int number) const {
    return memory_ + kBarriersAt + (group * kGroupBarriers + number) * 8;
  }
  __device__ __forceinline__ uint32_t filters_came(int group, int copy) const { return barrier(group, copy); }
  __device__ __forceinline__ uint32_t pixels_came(int group, int i) const {
    return barrier(group, kFilterCopies + 2 * i);
  }
  __device__ __forceinline__ uint32_t sums_came(int group, int i) const {
    return barrier(group, kFilterCopies + 2 * i + 1);
  }

  /// The role of the warp that copies. Pixels follow the first filters; in a block that begins late, they
  /// would otherwise wait for all filters.
  __device__ __forceinline__ void copy() const {
    if (ptx::elected()) init_barriers();
    __syncthreads();
    if (ptx::elected()) {
      for (int group = 0; group < 2; ++group) copy_filters(group, 0);
    }
    __syncwarp();
    ptx::wait_for_previous_kernel();
    if (ptx::elected()) {
      for (int group = 0; group < 2; ++group) copy_pixels(0, group);
      for (int copy = 1; copy < kFilterCopies; ++copy) {
        for (int group = 0; group < 2; ++group) copy_filters(group, copy);
      }
      for (int i = 1; i < tiles_; ++i) {
        for (int group = 0; group < 2; ++group) copy_pixels(i, group);
      }
    }
    __syncwarp();
    if (kParts > 1) {
      ptx::arrive_cluster();
      ptx::wait_cluster();
    }
  }

  /// Initialises the barriers, which wait only for bytes. Their addresses are known at compile time; with
  /// other addresses, this takes 80 clocks instead of 6.
  __device__ __forceinline__ void init_barriers() const {
#pragma unroll
    for (int i = 0; i < 2 * kGroupBarriers; ++i) ptx::init_barrier(barrier(0, i), 1);
    ptx::fence_barriers();
    const int pixel_bytes = (p_.rows + 3) * static_cast<int>(p_.pitch.divisor) * kRowBytes;
#pragma unroll
    for (int group = 0; group < 2; ++group) {
#pragma unroll
      for (int copy = 0; copy < kFilterCopies; ++copy)
        ptx::expect_copies(filters_came(group, copy), filter_bytes(copy));
      const int sum_bytes = (kParts - 1) * eights(group) * kEightBytes;
#pragma unroll
      for (int i = 0; i < kTiles; ++i) {
        ptx::expect_copies(pixels_came(group, i), pixel_bytes);
        if (kParts > 1) ptx::expect_copies(sums_came(group, i), sum_bytes);
      }
    }
  }

  static __device__ __forceinline__ int filter_bytes(int copy) {
    return (first_tap(copy + 1) - first_tap(copy)) * kTapBytes;
  }
  __device__ __forceinline__ void copy_filters(int group, int copy) const {
    const int first = first_tap(copy);
    const int64_t slice = (filter_group_ * kParts + rank_) * 2 + group;
    ptx::copy_bulk(memory_ + filters_at(group, first),
                   static_cast<const unsigned char*>(p_.filters) + slice * kGroupBytes + first * kTapBytes,
                   filter_bytes(copy), filters_came(group, copy));
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

  /// Copies 64 channels of a tile, with the row above and two rows below.
  /// Pixels outside the image are zero. The column between two rows is both the
  /// right neighbour of the first row and the left neighbour of the second.
  __device__ __forceinline__ void copy_pixels(int i, int group) const {
    const Tile at = tile(i);
    ptx::copy_pixels(memory_ + slab_at(i, group), p_.x, pixels_came(group, i), (rank_ * 2 + group) * 64, -1,
                     at.top - 1, at.image);
  }

  /// Loads the bias of the lane's two filters.
  __device__ __forceinline__ float2 load_bias() const {
    if (p_.bias == nullptr) return make_float2(0, 0);
    const float* const bias = p_.bias + first_filter() + lane_ / 4;
    return make_float2(__ldg(bias), __ldg(bias + 8));
  }
  __device__ __forceinline__ int first_filter() const { return filter_group_ * 64 + warp_ % 4 * 16; }

  /// The index of the `j`th group of eight columns that the block finishes.
  __device__ __forceinline__ int eight(int group, int j) const { return 2 * (j * kParts + rank_) + group; }

  /// The number of groups of eight columns that the block finishes.
  __device__ __forceinline__ int eights(int group) const {
    return (kEights - 2 * rank_ - group + 2 * kParts - 1) / (2 * kParts);
  }

  __device__ __forceinline__ int filters() const { return static_cast<int>(p_.filter_groups.divisor) * 64; }
  /// Computes the offsets from a tile's first pixel at which this
  /// lane stores its results, eight filters of a pixel each.
  __device__ __forceinline__ void find_places(int (&places)[kPieces]) const {
#pragma unroll
    for (int piece = 0; piece < kPieces; ++piece) {
      const int pixel = piece * 16 + lane_ / 2;
      const int column = eight(group(), pixel / 8) * 8 + pixel % 8;
      const int row = static_cast<int>(p_.pitch.divide(column));
      const int x = column - row * static_cast<int>(p_.pitch.divisor);
      const bool is_pixel = pixel < kOwned * 8 && column < kColumns && row < p_.rows && x < p_.width;
      places[piece] = is_pixel ? (row * p_.width + x) * filters() + first_filter() + lane_ % 2 * 8 : kNoPlace;
    }
  }

  /// Multiplies 64 filters by the warpgroup's channels. A tap's pixels start at another row of the slab.
  /// Columns that are not pixels of the tile hold arbitrary values, which reach no result.
  __device__ __forceinline__ void multiply(int i, float (&sums)[kSums]) const {
#pragma unroll
    for (int k = 0; k < kSums; ++k) {
      sums[k] = 0;
      ptx::hold(sums[k]);
    }
    ptx::wait_barrier(pixels_came(group(), i), 0);
    // Not earlier: blocks of the next kernel would then start
    // on multiprocessors that this kernel does not use.
    if (i == 0 && p_.next_waits) ptx::allow_next_kernel();
    const uint64_t filters = ptx::matrix_descriptor(memory_ + filters_at(group(), 0));
    const uint64_t slab = ptx::matrix_descriptor(memory_ + slab_at(i, group()));
    const int pitch = static_cast<int>(p_.pitch.divisor);
#pragma unroll
    for (int copy = 0; copy < kFilterCopies; ++copy) {
      ptx::wait_barrier(filters_came(group(), copy), 0);
      ptx::fence_sums();
#pragma unroll
      for (int tap = first_tap(copy); tap < first_tap(copy + 1); ++tap) {
        const uint64_t left = filters + tap * (kTapBytes >> 4);
        const uint64_t pixels = slab + (tap / 3 * pitch + tap % 3) * (kRowBytes >> 4);
#pragma unroll
        for (int k = 0; k < 4; ++k) ptx::multiply<T, kColumns>(sums, left + k * 2, pixels + k * 2);
      }
    }
    ptx::commit_products();
    ptx::wait_products<0>();
#pragma unroll
    for (int k = 0; k < kSums; ++k) ptx::hold(sums[k]);
  }

  /// Adds up the two warpgroups' sums: even groups of eight in the first warpgroup, odd ones in the second.
  __device__ __forceinline__ void exchange(const float (&sums)[kTiles][kSums], Kept (&kept)[kTiles]) const {
    const bool odd = group() != 0;
    ptx::sync_threads(2 + group(), 128);
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
#pragma unroll
      for (int e = 0; e < kKept; ++e) {
        const bool paired = 2 * e + 1 < kEights;
        const float4 even = four(sums[i], 2 * e);
        const float4 next = four(sums[i], paired ? 2 * e + 1 : 2 * e);
        kept[i][e] = choose(odd, next, even);
        if (has_tile(i) && (paired || odd)) given(i, group(), e) = choose(odd, even, next);
      }
    }
    ptx::sync_threads(1, 256);
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
#pragma unroll
      for (int e = 0; e < kKept; ++e) {
        if (has_tile(i)) kept[i][e] = add(kept[i][e], given(i, 1 - group(), e));
      }
    }
  }

  static __device__ __forceinline__ float4 choose(bool first, const float4& a, const float4& b) {
    return make_float4(first ? a.x : b.x, first ? a.y : b.y, first ? a.z : b.z, first ? a.w : b.w);
  }
  static __device__ __forceinline__ float4 four(const float (&sums)[kSums], int eight) {
    return make_float4(sums[4 * eight], sums[4 * eight + 1], sums[4 * eight + 2], sums[4 * eight + 3]);
  }
  static __device__ __forceinline__ float4 add(const float4& a, const float4& b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
  }

  /// Sends to each other block the sums that it finishes.
  __device__ __forceinline__ void send(int i, const Kept& kept) const {
#pragma unroll
    for (int e = 0; e < kKept; ++e) {
      const int owner = e % kParts;
      const int from = (rank_ - owner + kParts) % kParts - 1;
      if (owner != rank_ && 2 * e + group() < kEights)
        ptx::store_counted(ptx::address_in_block(memory_ + received_at(i, group(), from, e / kParts), owner),
                           kept[e], ptx::address_in_block(sums_came(group(), i), owner));
    }
  }

  /// A lane's sums belong to two filters and two pixels each, its results to eight filters of one pixel. They
  /// are exchanged through shared memory, which also holds the operand of an addition.
  __device__ __forceinline__ void finish(int i, const Kept& kept, const float2& bias,
                                         const int (&places)[kPieces]) const {
    const Tile at = tile(i);
    const int64_t start = (static_cast<int64_t>(at.image) * p_.height + at.top) * p_.width * filters();
    const int end = min(p_.rows, p_.height - at.top) * p_.width * filters();
    const auto piece_at = [&](int piece) {
      return reinterpret_cast<uint4*>(bytes_ + result_at(piece * 16 + lane_ / 2, lane_ % 2));
    };
    if (p_.operand != nullptr) {
#pragma unroll
      for (int piece = 0; piece < kPieces; ++piece) {
        const T* const operand = static_cast<const T*>(p_.operand) + start + places[piece];
        if (places[piece] < end) *piece_at(piece) = *reinterpret_cast<const uint4*>(operand);
      }
      __syncwarp();
    }
    if (kParts > 1) ptx::wait_received(sums_came(group(), i));
    const PairFinish<T, StreamKind::kAdd> bounds(p_.epilogue);
#pragma unroll
    for (int piece = 0; piece < kPieces; ++piece) {
      // Addresses for ldmatrix and stmatrix of matrices with eight filters and eight pixels each.
      const uint32_t matrices = memory_ + result_at(piece * 16 + lane_ / 16 * 8 + lane_ % 8, lane_ / 8 % 2);
      uint32_t pairs[4] = {};
      if (p_.operand != nullptr) ptx::load_matrix_x4_transposed(pairs, matrices);
#pragma unroll
      for (int j = 2 * piece; j < 2 * piece + 2 && j < kOwned; ++j) {
        const float4 sums = owned(i, kept, j);
        bounds.run(make_float2(sums.x + bias.x, sums.y + bias.x), pairs[j % 2 * 2]);
        bounds.run(make_float2(sums.z + bias.y, sums.w + bias.y), pairs[j % 2 * 2 + 1]);
      }
      ptx::store_matrix_x4_transposed(matrices, pairs);
    }
    __syncwarp();
#pragma unroll
    for (int piece = 0; piece < kPieces; ++piece) {
      if (places[piece] < end)
        *reinterpret_cast<uint4*>(static_cast<T*>(p_.y) + start + places[piece]) = *piece_at(piece);
    }
    __syncwarp();
  }

  /// The sums over all channels for the `j`th group of eight columns that the block finishes.
  __device__ __forceinline__ float4 owned(int i, const Kept& kept, int j) const {
    float4 sums = kept[j * kParts];
#pragma unroll
    for (int rank = 1; rank < kParts && j * kParts + rank < kKept; ++rank)
      sums = choose(rank_ == rank, kept[j * kParts + rank], sums);
#pragma unroll
    for (int from = 0; from < kParts - 1; ++from)
      sums = add(sums, *reinterpret_cast<const float4*>(bytes_ + received_at(i, group(), from, j)));
    return sums;
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
