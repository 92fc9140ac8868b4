// The bottleneck's kernel: one or two warpgroups multiply, a row of pixels each, and two warps bring what
// they need. Filters stay in shared memory for all tiles of the block. A warpgroup's sums lie as wgmma takes
// a left matrix from registers, so that each convolution feeds the next without passing through memory.
#pragma once

#include "device/cuda/plugin/kernels/common/kernel_stamp.cuh"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_finish.cuh"
#include "device/cuda/regions/bottleneck/plugin/kernels/bottleneck_params.hpp"

namespace hone::device::cuda {

/// Warps of a block whose kGroups warpgroups multiply, a row of a strip each.
template <int kGroups>
struct BottleneckWarps {
  static constexpr int kPatchCopier = 4 * kGroups;
  static constexpr int kSlabCopier = kPatchCopier + 1;
  /// Where two multiply, the others give what they have of registers.
  static constexpr bool kGives = kGroups == 2;
  static constexpr int kThreads = kGives ? (kGroups + 1) * 128 : (kSlabCopier + 1) * 32;
  static constexpr int kCopierRegisters = 72;
  static constexpr int kRegisters = 216;
};

/// Barriers in shared memory. Filters land once, the patch for each step; four warps of each warpgroup say
/// when they have left it. A slab is full for a warpgroup when what is added has landed, or at once where
/// nothing is, and empty when four warps have left it. Warpgroups have barriers of their own for that: one
/// that waits may be two phases behind the other's use of a slab.
struct BottleneckBarriers {
  uint32_t start;
  /// Barriers of the filters of a row of the window: its products begin while the next row's come.
  __device__ __forceinline__ uint32_t window(int row) const { return start + row * 8; }
  __device__ __forceinline__ uint32_t expand() const { return start + 24; }
  __device__ __forceinline__ uint32_t next() const { return start + 32; }
  __device__ __forceinline__ uint32_t patch() const { return start + 40; }
  __device__ __forceinline__ uint32_t patch_left() const { return start + 48; }
  __device__ __forceinline__ uint32_t empty(int slab) const { return start + 56 + slab * 24; }
  __device__ __forceinline__ uint32_t full(int slab, int group) const {
    return start + 64 + slab * 24 + group * 8;
  }

  /// Called by one thread.
  __device__ __forceinline__ void init(int slabs, int groups) const {
    for (int row = 0; row < 3; ++row) ptx::init_barrier(window(row), 1);
    for (const uint32_t barrier : {expand(), next(), patch()}) ptx::init_barrier(barrier, 1);
    ptx::init_barrier(patch_left(), 4 * groups);
    for (int slab = 0; slab < slabs; ++slab) {
      ptx::init_barrier(empty(slab), 4);
      for (int group = 0; group < groups; ++group) ptx::init_barrier(full(slab, group), 1);
    }
    ptx::fence_barriers();
  }
};

/// The first pixel of a strip, or of its row `row`.
struct BottleneckTile {
  int x;
  int y;
  int image;

  __device__ __forceinline__ BottleneckTile(const BottleneckParams& p, int rows, int step, int row) {
    const int strip = static_cast<int>(p.segments.divide(step));
    x = (step - strip * static_cast<int>(p.segments.divisor)) * 64;
    image = static_cast<int>(p.strips.divide(strip));
    y = (strip - image * static_cast<int>(p.strips.divisor)) * rows + row;
  }
};

/// A slab that goes round.
template <int kSlabs>
struct SlabPlace {
  static_assert(kSlabs % 2 == 1, "of an even number two warpgroups would get half each");
  int slab;
  uint32_t parity = 0;
  int uses = 0;

  /// `stride` slabs further. Who has had all of them begins a new phase.
  __device__ __forceinline__ void next(int stride) {
    slab += stride;
    if (slab >= kSlabs) slab -= kSlabs;
    if (++uses != kSlabs) return;
    uses = 0;
    parity ^= 1;
  }
};

template <class T, int kNext, bool kProjects, int kGroups>
class BottleneckBlock {
 public:
  using Memory = BottleneckMemory<kNext, kProjects, kGroups>;
  using Place = SlabPlace<Memory::kSharedSlabs>;
  using Warps = BottleneckWarps<kGroups>;
  struct Slabs {
    Place place;     ///< of shared ones, the next
    int stored = 0;  ///< the last one that was stored
  };

  __device__ __forceinline__ BottleneckBlock(const BottleneckParams& params, unsigned char* memory)
      : p_(params),
        bias_(reinterpret_cast<float*>(memory + Memory::kBiasAt)),
        memory_(ptx::shared_address(memory)),
        warp_(ptx::warp()),
        group_(kGroups == 1 ? 0 : warp_ / 4),
        barriers_{memory_ + Memory::kBarrierAt} {}

  /// By all threads, together. The warps that copy then go their way, without waiting for biases.
  __device__ __forceinline__ void run() const {
    if (warp_ == Warps::kPatchCopier) {
      if (ptx::elected()) barriers_.init(Memory::kSlabs, kGroups);
      for (const CUtensorMap* map : {&p_.x, &p_.shortcut, &p_.wide, &p_.narrow}) ptx::prefetch_map(*map);
    } else if (warp_ == Warps::kSlabCopier) {
      for (const CUtensorMap* map : {&p_.window, &p_.expand, &p_.next}) ptx::prefetch_map(*map);
    }
    __syncthreads();
    if (warp_ >= 4 * kGroups) {
      if (Warps::kGives) ptx::give_registers<Warps::kCopierRegisters>();
      if (warp_ == Warps::kPatchCopier) copy_patches();
      if (warp_ != Warps::kSlabCopier) return;
      if (ptx::elected()) copy_filters();
      __syncwarp();
      copy_slabs();
    } else {
      if (Warps::kGives) ptx::take_registers<Warps::kRegisters>();
      load_biases();
      ptx::sync_threads(1, 128 * kGroups);
      multiply();
    }
  }

 private:
  __device__ __forceinline__ void load_biases() const {
    const auto value = [](const float* bias, int i) { return bias == nullptr ? 0.0f : bias[i]; };
    for (int i = static_cast<int>(threadIdx.x); i < Memory::kBiases; i += 128 * kGroups) {
      const int wide = i - 64;
      const int narrow = wide - static_cast<int>(Bottleneck::kWide);
      if (wide < 0) {
        bias_[i] = value(p_.window_bias, i);
      } else if (narrow < 0) {
        bias_[i] = value(p_.expand_bias, wide) + (kProjects ? value(p_.projection_bias, wide) : 0.0f);
      } else {
        bias_[i] = value(p_.next_bias, narrow);
      }
    }
  }

  template <class Each>
  __device__ __forceinline__ void steps(const Each& each) const {
    for (int i = static_cast<int>(blockIdx.x); i < p_.steps; i += static_cast<int>(gridDim.x)) each(i);
  }

  /// All lanes of the warp wait, one copies.
  __device__ __forceinline__ void copy_patches() const {
    ptx::wait_for_previous_kernel();
    uint32_t parity = 1;
    steps([&](int i) {
      const BottleneckTile tile(p_, kGroups, i, 0);
      ptx::wait_barrier(barriers_.patch_left(), parity);
      if (ptx::elected()) {
        ptx::expect_copies(barriers_.patch(), p_.patch_width * (kGroups + 2) * Memory::kRowBytes);
        ptx::copy_pixels(memory_ + Memory::kPatchAt, p_.x, barriers_.patch(), 0, tile.x - 1, tile.y - 1,
                         tile.image);
      }
      __syncwarp();
      parity ^= 1;
    });
  }

  /// Copies slabs. Slabs that two warpgroups share come in the order in which these take turns; a single one
  /// has its slabs for a single tile.
  __device__ __forceinline__ void copy_slabs() const {
    ptx::wait_for_previous_kernel();
    if (kGroups == 1) {
      const BottleneckTile tile(p_, kGroups, static_cast<int>(blockIdx.x), 0);
      for (int k = 0; k < Memory::kFilled; ++k) {
        if (ptx::elected()) fill(k, barriers_.full(k, 0), k, tile);
        __syncwarp();
      }
      return;
    }
    Place place{0, 1};
    steps([&](int i) {
      for (int k = 0; k < Memory::kTaken; ++k) {
        for (int row = 0; row < kGroups; ++row) {
          ptx::wait_barrier(barriers_.empty(place.slab), place.parity);
          if (ptx::elected())
            fill(place.slab, barriers_.full(place.slab, row), k, BottleneckTile(p_, kGroups, i, row));
          __syncwarp();
          place.next(1);
        }
      }
    });
  }

  /// Called by one thread.
  __device__ __forceinline__ void fill(int slab, uint32_t full, int k, const BottleneckTile& tile) const {
    if (k >= Memory::kFilled) return ptx::arrive(full);
    ptx::expect_copies(full, Memory::kSlab);
    ptx::copy_pixels(memory_ + Memory::kSlabsAt + slab * Memory::kSlab, p_.shortcut, full, k * 64, tile.x,
                     tile.y, tile.image);
  }

  /// A warpgroup.
  __device__ __forceinline__ void multiply() const {
    uint32_t parity = 0;
    bool first = true;
    Slabs slabs{{group_}};
    steps([&](int i) {
      const BottleneckTile tile(p_, kGroups, i, group_);
      uint32_t middle[4][4];
      multiply_windows(parity, first, slabs, middle);
      float narrow[kNext / 2];
      begin_with_bias<kNext>(bias_ + 64 + Bottleneck::kWide, narrow);
      if (first) {
        ptx::wait_barrier(barriers_.expand(), 0);
        ptx::wait_barrier(barriers_.next(), 0);
      }
      expand_and_narrow(tile, slabs, middle, narrow);
      store_narrow(tile, slabs, narrow);
      parity ^= 1;
      first = false;
    });
    if (ptx::elected()) ptx::wait_stores_read();  // shared memory is the block's until it ends
  }

  __device__ __forceinline__ void copy_filters() const {
    for (int tap = 0; tap < Memory::kTaps; ++tap) {
      const uint32_t barrier = barriers_.window(tap / 3);
      if (tap % 3 == 0) ptx::expect_copies(barrier, 3 * Memory::kSlab);
      ptx::copy_box(memory_ + Memory::kWindowAt + tap * Memory::kSlab, p_.window, barrier, 0, tap, 0);
    }
    ptx::expect_copies(barriers_.expand(), (kProjects ? 2 : 1) * Memory::kChunks * Memory::kSlab);
    for (int chunk = 0; chunk < Memory::kChunks; ++chunk) {
      const int at = chunk * Memory::kSlab;
      ptx::copy_rows(memory_ + Memory::kExpandAt + at, p_.expand, barriers_.expand(), 0, chunk * 64);
      if (kProjects)
        ptx::copy_rows(memory_ + Memory::kProjectionAt + at, p_.projection, barriers_.expand(), 0,
                       chunk * 64);
    }
    ptx::expect_copies(barriers_.next(), Memory::kChunks * Memory::kNextSlab);
    for (int chunk = 0; chunk < Memory::kChunks; ++chunk)
      ptx::copy_rows(memory_ + Memory::kNextAt + chunk * Memory::kNextSlab, p_.next, barriers_.next(),
                     chunk * 64, 0);
  }

  /// Starts every row with the bias of columns lane % 4 * 2 + 8 j and the next.
  template <int kN>
  static __device__ __forceinline__ void begin_with_bias(const float* bias, float (&sums)[kN / 2]) {
    const float* const mine = bias + threadIdx.x % 4 * 2;
#pragma unroll
    for (int j = 0; j < kN / 8; ++j) {
      const float2 pair = *reinterpret_cast<const float2*>(mine + j * 8);
      sums[4 * j] = sums[4 * j + 2] = pair.x;
      sums[4 * j + 1] = sums[4 * j + 3] = pair.y;
    }
  }

  /// The convolution of 3 x 3 as the left matrix of the next product. A tap's pixels are the patch from
  /// another row on; rows after the tile's last pixel hold anything and reach no result. Meanwhile the last
  /// slab of the tile before, if there is one, is left.
  __device__ __forceinline__ void multiply_windows(uint32_t parity, bool first, const Slabs& slabs,
                                                   uint32_t (&middle)[4][4]) const {
    float sums[32];
    begin_with_bias<64>(bias_, sums);
    ptx::wait_barrier(barriers_.patch(), parity);
    const uint64_t patch =
        ptx::matrix_descriptor(memory_ + Memory::kPatchAt + group_ * p_.patch_width * Memory::kRowBytes);
#pragma unroll
    for (int tap = 0; tap < Memory::kTaps; ++tap) {
      if (tap % 3 == 0) {
        if (first) ptx::wait_barrier(barriers_.window(tap / 3), 0);
        ptx::fence_sums();
      }
      const int row = tap / 3 * p_.patch_width + tap % 3;
      const uint64_t pixels = patch + row * (Memory::kRowBytes >> 4);
      const uint64_t filters = ptx::matrix_descriptor(memory_ + Memory::kWindowAt + tap * Memory::kSlab);
#pragma unroll
      for (int k = 0; k < 4; ++k) ptx::multiply<T, 64>(sums, pixels + k * 2, filters + k * 2);
    }
    ptx::commit_products();
    if (!first) leave_stored(slabs.stored);
    ptx::wait_products<0>();
    leave(barriers_.patch_left());
    const PairFinish<T, StreamKind::kBounds> finish(p_.window_bounds);
#pragma unroll
    for (int k = 0; k < 4; ++k) finish_fragment(finish, sums + 8 * k, middle[k]);
  }

  template <class Finish>
  static __device__ __forceinline__ void finish_fragment(const Finish& finish, const float* sums,
                                                         uint32_t (&fragment)[4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) finish.run(make_float2(sums[2 * i], sums[2 * i + 1]), fragment[i]);
  }

  /// Starts 64 channels of the expansion. `projected`: pixels of the shortcut, where it is projected.
  __device__ __forceinline__ void start_chunk(int chunk, const uint32_t (&middle)[4][4],
                                              const uint32_t (&projected)[4][4], float (&sums)[32]) const {
    begin_with_bias<64>(bias_ + 64 + chunk * 64, sums);
    ptx::fence_sums();
    const uint64_t filters = ptx::matrix_descriptor(memory_ + Memory::kExpandAt + chunk * Memory::kSlab);
#pragma unroll
    for (int k = 0; k < 4; ++k) ptx::multiply<T, 64>(sums, middle[k], filters + k * 2);
    if (kProjects) {
      const uint64_t projection =
          ptx::matrix_descriptor(memory_ + Memory::kProjectionAt + chunk * Memory::kSlab);
#pragma unroll
      for (int k = 0; k < 4; ++k) ptx::multiply<T, 64>(sums, projected[k], projection + k * 2);
    }
    ptx::commit_products();
  }

  /// Takes the projected image out of its slab.
  __device__ __forceinline__ void take_projected(Slabs& slabs, uint32_t (&projected)[4][4]) const {
    const int slab = take(0, slabs);
#pragma unroll
    for (int k = 0; k < 4; ++k) ptx::load_matrix_x4(projected[k], fragment_address(slab, k));
    __syncwarp();
    if (kGroups == 2) leave(barriers_.empty(slab));
  }

  /// The expansion, stored, and its product with the filters of the next convolution, chunk by chunk. While
  /// one chunk is finished, the next one is multiplied, and the one before with those filters: two chunks are
  /// started ahead, so that no chunk waits for the later steps of the one before.
  __device__ __forceinline__ void expand_and_narrow(const BottleneckTile& tile, Slabs& slabs,
                                                    const uint32_t (&middle)[4][4],
                                                    float (&narrow)[kNext / 2]) const {
    const PairFinish<T, kProjects ? StreamKind::kBounds : StreamKind::kAdd> finish(p_.wide_bounds);
    float sums[2][32];
    uint32_t wide[2][4][4];
    uint32_t projected[4][4] = {};
    if (kProjects) take_projected(slabs, projected);
    start_chunk(0, middle, projected, sums[0]);
    start_chunk(1, middle, projected, sums[1]);
#pragma unroll
    for (int chunk = 0; chunk < Memory::kChunks; ++chunk) {
      // Leaves the later chunks, and the product of the one before this, under way.
      if (chunk == 0 || chunk + 1 == Memory::kChunks) {
        ptx::wait_products<1>();
      } else {
        ptx::wait_products<2>();
      }
      if (chunk != 0) leave_stored(slabs.stored);
      const int slab = take(Memory::kProjected + chunk, slabs);
      // All loads before all stores: each waits for itself only.
      if (!kProjects) {
#pragma unroll
        for (int k = 0; k < 4; ++k) ptx::load_matrix_x4(wide[chunk % 2][k], fragment_address(slab, k));
        __syncwarp();
      }
#pragma unroll
      for (int k = 0; k < 4; ++k) finish_fragment(finish, sums[chunk % 2] + 8 * k, wide[chunk % 2][k]);
#pragma unroll
      for (int k = 0; k < 4; ++k) ptx::store_matrix_x4(fragment_address(slab, k), wide[chunk % 2][k]);
      if (chunk + 2 < Memory::kChunks) start_chunk(chunk + 2, middle, projected, sums[chunk % 2]);
      ptx::fence_sums();
      const uint64_t filters = ptx::matrix_descriptor(memory_ + Memory::kNextAt + chunk * Memory::kNextSlab);
#pragma unroll
      for (int k = 0; k < 4; ++k) ptx::multiply<T, kNext>(narrow, wide[chunk % 2][k], filters + k * 2);
      ptx::commit_products();
      store(p_.wide, slab, chunk, tile);
      slabs.stored = slab;
    }
    ptx::wait_products<0>();
  }

  __device__ __forceinline__ void store_narrow(const BottleneckTile& tile, Slabs& slabs,
                                               const float (&sums)[kNext / 2]) const {
    const PairFinish<T, StreamKind::kBounds> finish(p_.narrow_bounds);
#pragma unroll
    for (int chunk = 0; chunk < kNext / 64; ++chunk) {
      const int slab = take(Memory::kProjected + Memory::kChunks + chunk, slabs);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        uint32_t fragment[4];
        finish_fragment(finish, sums + chunk * 32 + 8 * k, fragment);
        ptx::store_matrix_x4(fragment_address(slab, k), fragment);
      }
      store(p_.narrow, slab, chunk, tile);
      leave_stored<1>(slabs.stored);
      slabs.stored = slab;
    }
  }

  /// Where this lane's row of 16 rows and 16 channels lies, as ldmatrix and stmatrix take them.
  __device__ __forceinline__ uint32_t fragment_address(int slab, int k) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int row = warp_ % 4 * 16 + lane % 16;
    const uint32_t corner = row * Memory::kRowBytes + ((lane / 16) ^ (row & 7)) * 16;
    return (memory_ + Memory::kSlabsAt + slab * Memory::kSlab + corner) ^ (k * 32);
  }

  /// This warp's 16 pixels of a slab to a chunk of 64 channels; those beyond the row's end are not written.
  __device__ __forceinline__ void store(const CUtensorMap& map, int slab, int chunk,
                                        const BottleneckTile& tile) const {
    ptx::fence_for_copies();
    __syncwarp();
    if (!ptx::elected()) return;
    const int pixel = warp_ % 4 * 16;
    ptx::store_pixels(map, memory_ + Memory::kSlabsAt + slab * Memory::kSlab + pixel * Memory::kRowBytes,
                      chunk * 64, tile.x + pixel, tile.y, tile.image);
    ptx::commit_stores();
  }

  /// The slab for need `k` of a tile, when what was to land is there and what was in it has been read.
  __device__ __forceinline__ int take(int k, Slabs& slabs) const {
    if (kGroups == 2) {
      const int slab = slabs.place.slab;
      ptx::wait_barrier(barriers_.full(slab, group_), slabs.place.parity);
      slabs.place.next(kGroups);
      return slab;
    }
    if (k < Memory::kFilled) {
      ptx::wait_barrier(barriers_.full(k, 0), 0);
      return k;
    }
    // In turn, after the projected image.
    constexpr int kTurn = Memory::kSlabs - Memory::kProjected;
    const int result = k - Memory::kProjected;
    if (result >= kTurn) {
      if (ptx::elected()) ptx::wait_stores_read<kTurn - 1>();
      __syncwarp();
    }
    return Memory::kProjected + result % kTurn;
  }

  /// Leaves a shared slab that this warp has stored, once it has been read: after other work, so that this
  /// takes no time. One lane has started the store, and kPending since.
  template <int kPending = 0>
  __device__ __forceinline__ void leave_stored(int slab) const {
    if (kGroups == 1) return;
    if (ptx::elected()) ptx::wait_stores_read<kPending>();
    __syncwarp();
    leave(barriers_.empty(slab));
  }

  static __device__ __forceinline__ void leave(uint32_t barrier) {
    if (threadIdx.x % 32 == 0) ptx::arrive(barrier);
  }

  const BottleneckParams& p_;
  float* bias_;
  uint32_t memory_;
  int warp_;
  int group_;
  BottleneckBarriers barriers_;
};

template <class T, int kNext, bool kProjects, int kGroups>
__global__ void __launch_bounds__(BottleneckWarps<kGroups>::kThreads, 1)
    bottleneck_kernel(const __grid_constant__ BottleneckParams p, KernelStamp* stamp) {
  const RunningKernel running(stamp, (kGroups - 1) * 128);
  extern __shared__ __align__(1024) unsigned char memory[];
  if (p.next_waits) ptx::allow_next_kernel();
  BottleneckBlock<T, kNext, kProjects, kGroups>(p, memory).run();
}

}  // namespace hone::device::cuda
