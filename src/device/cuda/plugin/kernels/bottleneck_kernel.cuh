// The bottleneck's kernel: one warpgroup multiplies, two warps bring what it needs. Filters stay in
// shared memory for all tiles of the block. A warpgroup's sums lie as wgmma takes a left matrix from
// registers, so that each convolution feeds the next without passing through memory.
#pragma once

#include "device/cuda/plugin/kernels/bottleneck_params.hpp"
#include "device/cuda/plugin/kernels/kernel_stamp.cuh"
#include "device/cuda/plugin/kernels/warpgroup_gemm_finish.cuh"

namespace hone::device::cuda {

// Numbers of warps behind the four that multiply.
constexpr int kBottleneckImageCopier = 4;
constexpr int kBottleneckFilterCopier = 5;
constexpr int kBottleneckThreads = 6 * 32;

/// In shared memory. Filters land once, the patch and the shortcut for each tile; four warps say when they
/// have left them.
struct BottleneckBarriers {
  uint32_t start;
  __device__ __forceinline__ uint32_t window() const { return start; }
  __device__ __forceinline__ uint32_t expand() const { return start + 8; }
  __device__ __forceinline__ uint32_t next() const { return start + 16; }
  __device__ __forceinline__ uint32_t patch() const { return start + 24; }
  __device__ __forceinline__ uint32_t patch_left() const { return start + 32; }
  __device__ __forceinline__ uint32_t shortcut() const { return start + 40; }
  __device__ __forceinline__ uint32_t shortcut_left() const { return start + 48; }

  /// By one thread.
  __device__ __forceinline__ void init() const {
    for (const uint32_t barrier : {window(), expand(), next(), patch(), shortcut()})
      ptx::init_barrier(barrier, 1);
    for (const uint32_t barrier : {patch_left(), shortcut_left()}) ptx::init_barrier(barrier, 4);
    ptx::fence_barriers();
  }
};

/// The first pixel of a tile.
struct BottleneckTile {
  int x;
  int y;
  int image;

  __device__ __forceinline__ BottleneckTile(const BottleneckParams& p, int tile) {
    const int row = static_cast<int>(p.segments.divide(tile));
    x = (tile - row * static_cast<int>(p.segments.divisor)) * 64;
    image = static_cast<int>(p.height.divide(row));
    y = row - image * static_cast<int>(p.height.divisor);
  }
};

template <class T, int kNext, bool kProjects>
class BottleneckBlock {
 public:
  using Memory = BottleneckMemory<kNext, kProjects>;

  __device__ __forceinline__ BottleneckBlock(const BottleneckParams& params, unsigned char* memory)
      : p_(params),
        bias_(reinterpret_cast<float*>(memory + Memory::kBiasAt)),
        memory_(ptx::shared_address(memory)),
        warp_(ptx::warp()),
        barriers_{memory_ + Memory::kBarrierAt} {}

  /// By all threads, together. The warps that copy then go their way, without waiting for biases.
  __device__ __forceinline__ void run() const {
    if (warp_ == kBottleneckImageCopier) {
      if (ptx::elected()) barriers_.init();
      for (const CUtensorMap* map : {&p_.x, &p_.shortcut, &p_.wide, &p_.narrow}) ptx::prefetch_map(*map);
    } else if (warp_ == kBottleneckFilterCopier) {
      for (const CUtensorMap* map : {&p_.window, &p_.expand, &p_.next}) ptx::prefetch_map(*map);
    }
    __syncthreads();
    if (warp_ == kBottleneckImageCopier) {
      copy_images();
    } else if (warp_ == kBottleneckFilterCopier) {
      if (ptx::elected()) copy_filters();
    } else {
      load_biases();
      ptx::sync_threads(1, 128);
      multiply();
    }
  }

 private:
  __device__ __forceinline__ void load_biases() const {
    const auto value = [](const float* bias, int i) { return bias == nullptr ? 0.0f : bias[i]; };
    for (int i = static_cast<int>(threadIdx.x); i < Memory::kBiases; i += 128) {
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

  /// All lanes of the warp wait, one copies.
  __device__ __forceinline__ void copy_images() const {
    ptx::wait_for_previous_kernel();
    uint32_t parity = 1;
    for (int i = static_cast<int>(blockIdx.x); i < p_.tiles; i += static_cast<int>(gridDim.x)) {
      const BottleneckTile tile(p_, i);
      ptx::wait_barrier(barriers_.patch_left(), parity);
      if (ptx::elected()) {
        ptx::expect_copies(barriers_.patch(), p_.patch_width * 3 * Memory::kRowBytes);
        ptx::copy_pixels(memory_ + Memory::kPatchAt, p_.x, barriers_.patch(), 0, tile.x - 1, tile.y - 1,
                         tile.image);
      }
      __syncwarp();
      ptx::wait_barrier(barriers_.shortcut_left(), parity);
      if (ptx::elected()) copy_shortcut(tile);
      __syncwarp();
      parity ^= 1;
    }
  }

  /// The warpgroup.
  __device__ __forceinline__ void multiply() const {
    uint32_t parity = 0;
    ptx::wait_barrier(barriers_.window(), 0);
    for (int i = static_cast<int>(blockIdx.x); i < p_.tiles; i += static_cast<int>(gridDim.x)) {
      const BottleneckTile tile(p_, i);
      uint32_t middle[4][4];
      multiply_windows(parity, i != static_cast<int>(blockIdx.x), middle);
      float narrow[kNext / 2];
      begin_with_bias<kNext>(bias_ + 64 + Bottleneck::kWide, narrow);
      if (i == static_cast<int>(blockIdx.x)) {
        ptx::wait_barrier(barriers_.expand(), 0);
        ptx::wait_barrier(barriers_.next(), 0);
      }
      expand_and_narrow(tile, parity, middle, narrow);
      store_narrow(tile, narrow);
      parity ^= 1;
    }
    wait_stores_read<0>();  // shared memory is the block's until it ends
  }

  __device__ __forceinline__ void copy_filters() const {
    ptx::expect_copies(barriers_.window(), Memory::kTaps * Memory::kSlab);
    for (int tap = 0; tap < Memory::kTaps; ++tap)
      ptx::copy_box(memory_ + Memory::kWindowAt + tap * Memory::kSlab, p_.window, barriers_.window(), 0, tap,
                    0);
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

  __device__ __forceinline__ void copy_shortcut(const BottleneckTile& tile) const {
    constexpr int kCount = kProjects ? 1 : Memory::kChunks;
    constexpr int kAt = kProjects ? Memory::kShortcutAt : Memory::kSlabsAt;
    ptx::expect_copies(barriers_.shortcut(), kCount * Memory::kSlab);
    for (int chunk = 0; chunk < kCount; ++chunk)
      ptx::copy_pixels(memory_ + kAt + chunk * Memory::kSlab, p_.shortcut, barriers_.shortcut(), chunk * 64,
                       tile.x, tile.y, tile.image);
  }

  /// Of every row, what column lane % 4 * 2 + 8 j and the next begin with.
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
  /// another row on; rows behind the tile's last pixel hold anything and reach no result. Meanwhile the slabs
  /// of the tile before, if there is one, are left.
  __device__ __forceinline__ void multiply_windows(uint32_t parity, bool leaves_slabs,
                                                   uint32_t (&middle)[4][4]) const {
    float sums[32];
    begin_with_bias<64>(bias_, sums);
    ptx::wait_barrier(barriers_.patch(), parity);
    ptx::fence_sums();
#pragma unroll
    for (int tap = 0; tap < Memory::kTaps; ++tap) {
      const int row = tap / 3 * p_.patch_width + tap % 3;
      const uint64_t pixels = ptx::matrix_descriptor(memory_ + Memory::kPatchAt + row * Memory::kRowBytes);
      const uint64_t filters = ptx::matrix_descriptor(memory_ + Memory::kWindowAt + tap * Memory::kSlab);
#pragma unroll
      for (int k = 0; k < 4; ++k) ptx::multiply<T, 64>(sums, pixels + k * 2, filters + k * 2);
    }
    ptx::commit_products();
    if (leaves_slabs) {
      wait_stores_read<0>();
      if (!kProjects) leave(barriers_.shortcut_left());
    }
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

  /// Starts 64 channels of the expansion.
  __device__ __forceinline__ void start_chunk(int chunk, const uint32_t (&middle)[4][4],
                                              float (&sums)[32]) const {
    begin_with_bias<64>(bias_ + 64 + chunk * 64, sums);
    ptx::fence_sums();
    const uint64_t filters = ptx::matrix_descriptor(memory_ + Memory::kExpandAt + chunk * Memory::kSlab);
#pragma unroll
    for (int k = 0; k < 4; ++k) ptx::multiply<T, 64>(sums, middle[k], filters + k * 2);
    if (kProjects) {
      const uint64_t pixels = ptx::matrix_descriptor(memory_ + Memory::kShortcutAt);
      const uint64_t projection =
          ptx::matrix_descriptor(memory_ + Memory::kProjectionAt + chunk * Memory::kSlab);
#pragma unroll
      for (int k = 0; k < 4; ++k) ptx::multiply<T, 64>(sums, pixels + k * 2, projection + k * 2);
    }
    ptx::commit_products();
  }

  /// The expansion, stored, and its product with the filters of the next convolution, chunk by chunk. While
  /// one chunk is finished, the next one is multiplied, and the one before with those filters: two chunks are
  /// started ahead, so that no chunk waits for what the one before goes on to.
  __device__ __forceinline__ void expand_and_narrow(const BottleneckTile& tile, uint32_t parity,
                                                    const uint32_t (&middle)[4][4],
                                                    float (&narrow)[kNext / 2]) const {
    const PairFinish<T, kProjects ? StreamKind::kBounds : StreamKind::kAdd> finish(p_.wide_bounds);
    float sums[2][32];
    uint32_t wide[2][4][4];
    if (kProjects) ptx::wait_barrier(barriers_.shortcut(), parity);
    start_chunk(0, middle, sums[0]);
    start_chunk(1, middle, sums[1]);
    if (!kProjects) ptx::wait_barrier(barriers_.shortcut(), parity);
#pragma unroll
    for (int chunk = 0; chunk < Memory::kChunks; ++chunk) {
      // Leaves the chunks behind this one, and the product of the one before it, under way.
      const bool last = chunk + 1 == Memory::kChunks;
      if (chunk == 0 || last) {
        ptx::wait_products<1>();
      } else {
        ptx::wait_products<2>();
      }
      if (kProjects && last) leave(barriers_.shortcut_left());
      if (kProjects && chunk >= Memory::kSlabs) wait_stores_read<1>();
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        uint32_t(&fragment)[4] = wide[chunk % 2][k];
        const uint32_t address = fragment_address(chunk % Memory::kSlabs, k);
        if (!kProjects) {
          ptx::load_matrix_x4(fragment, address);
          __syncwarp();
        }
        finish_fragment(finish, sums[chunk % 2] + 8 * k, fragment);
        ptx::store_matrix_x4(address, fragment);
      }
      if (chunk + 2 < Memory::kChunks) start_chunk(chunk + 2, middle, sums[chunk % 2]);
      ptx::fence_sums();
      const uint64_t filters = ptx::matrix_descriptor(memory_ + Memory::kNextAt + chunk * Memory::kNextSlab);
#pragma unroll
      for (int k = 0; k < 4; ++k) ptx::multiply<T, kNext>(narrow, wide[chunk % 2][k], filters + k * 2);
      ptx::commit_products();
      store(p_.wide, chunk % Memory::kSlabs, chunk, tile);
    }
    ptx::wait_products<0>();
  }

  __device__ __forceinline__ void store_narrow(const BottleneckTile& tile,
                                               const float (&sums)[kNext / 2]) const {
    const PairFinish<T, StreamKind::kBounds> finish(p_.narrow_bounds);
    // The slabs that it takes have been read; the last ones may still be.
    wait_stores_read<Memory::kSlabs - kNext / 64>();
#pragma unroll
    for (int slab = 0; slab < kNext / 64; ++slab) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        uint32_t fragment[4];
        finish_fragment(finish, sums + slab * 32 + 8 * k, fragment);
        ptx::store_matrix_x4(fragment_address(slab, k), fragment);
      }
      store(p_.narrow, slab, slab, tile);
    }
  }

  /// Where this lane's row of 16 rows and 16 channels lies, as ldmatrix and stmatrix take them.
  __device__ __forceinline__ uint32_t fragment_address(int slab, int k) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int row = static_cast<int>(threadIdx.x) / 32 * 16 + lane % 16;
    const uint32_t corner = row * Memory::kRowBytes + ((lane / 16) ^ (row & 7)) * 16;
    return (memory_ + Memory::kSlabsAt + slab * Memory::kSlab + corner) ^ (k * 32);
  }

  /// This warp's 16 pixels of a slab to a chunk of 64 channels; those beyond the row's end are not written.
  __device__ __forceinline__ void store(const CUtensorMap& map, int slab, int chunk,
                                        const BottleneckTile& tile) const {
    ptx::fence_for_copies();
    __syncwarp();
    if (!ptx::elected()) return;
    const int pixel = warp_ * 16;
    ptx::store_pixels(map, memory_ + Memory::kSlabsAt + slab * Memory::kSlab + pixel * Memory::kRowBytes,
                      chunk * 64, tile.x + pixel, tile.y, tile.image);
    ptx::commit_stores();
  }

  /// For the whole warp: one lane of it has started the stores.
  template <int kPending>
  static __device__ __forceinline__ void wait_stores_read() {
    if (ptx::elected()) ptx::wait_stores_read<kPending>();
    __syncwarp();
  }

  static __device__ __forceinline__ void leave(uint32_t barrier) {
    if (threadIdx.x % 32 == 0) ptx::arrive(barrier);
  }

  const BottleneckParams& p_;
  float* bias_;
  uint32_t memory_;
  int warp_;
  BottleneckBarriers barriers_;
};

template <class T, int kNext, bool kProjects>
__global__ void __launch_bounds__(kBottleneckThreads, 1)
    bottleneck_kernel(const __grid_constant__ BottleneckParams p, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  extern __shared__ __align__(1024) unsigned char memory[];
  if (p.next_waits) ptx::allow_next_kernel();
  BottleneckBlock<T, kNext, kProjects>(p, memory).run();
}

}  // namespace hone::device::cuda
