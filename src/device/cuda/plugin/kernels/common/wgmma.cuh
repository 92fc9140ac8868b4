// Matrix products of a warpgroup (wgmma) and copies by tensor map (TMA), which only compute capability 9.0a
// has. PTX ISA 9.0, sections 9.7.15 (wgmma) and 9.7.9.27 (cp.async.bulk.tensor).
#pragma once

#include <cuda.h>

#include "device/cuda/plugin/kernels/common/ptx.cuh"
#include "device/cuda/plugin/kernels/common/wgmma_operands.cuh"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define HONE_HAS_WGMMA 1
#endif

namespace hone::device::cuda::ptx {

/// Index of this thread's warp, in a register that the compiler knows to be uniform within the warp.
__device__ __forceinline__ int warp() {
  return __shfl_sync(0xffffffff, static_cast<int>(threadIdx.x) / 32, 0);
}

/// The index of the thread's warpgroup.
__device__ __forceinline__ int warpgroup() { return warp() / 4; }

/// True for one lane of a fully active warp, always the same one. If the whole warp runs the loop and one
/// lane starts the copies, their addresses stay in uniform registers. If only one thread runs it, the
/// compiler turns each copy into a loop over lanes.
__device__ __forceinline__ bool elected() {
  uint32_t chosen = 0;
#ifdef HONE_HAS_WGMMA
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(chosen));
#endif
  return chosen != 0;
}

/// setmaxnreg: sets the registers of each thread, a multiple of 8. All warps of a warpgroup call it; an
/// increase waits until registers are free.
template <int kCount>
__device__ __forceinline__ void give_registers() {
#ifdef HONE_HAS_WGMMA
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount));
#endif
}
template <int kCount>
__device__ __forceinline__ void take_registers() {
#ifdef HONE_HAS_WGMMA
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount));
#endif
}

/// Initialises an mbarrier in shared memory at which `arrivals` threads arrive in each phase.
__device__ __forceinline__ void init_barrier(uint32_t barrier, uint32_t arrivals) {
#ifdef HONE_HAS_WGMMA
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
#endif
}

/// Barrier `number` (1 to 15) among `count` threads of the block.
__device__ __forceinline__ void sync_threads(int number, int count) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(count) : "memory");
}

/// Makes initialised barriers visible to copies and to the other blocks of the cluster.
__device__ __forceinline__ void fence_barriers() {
#ifdef HONE_HAS_WGMMA
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

__device__ __forceinline__ void arrive(uint32_t barrier) {
#ifdef HONE_HAS_WGMMA
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
#endif
}

/// Waits until the phase with this parity has completed.
__device__ __forceinline__ void wait_barrier(uint32_t barrier, uint32_t parity) {
#ifdef HONE_HAS_WGMMA
  uint32_t done = 0;
  while (done == 0) {
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
  }
#endif
}

/// Waits for the first phase of a barrier that other blocks
/// of the cluster complete. Their writes are then visible.
__device__ __forceinline__ void wait_received(uint32_t barrier) {
#ifdef HONE_HAS_WGMMA
  uint32_t done = 0;
  while (done == 0) {
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0;\nselp.u32 "
        "%0, "
        "1, 0, p;\n}"
        : "=r"(done)
        : "r"(barrier)
        : "memory");
  }
#endif
}

/// Prefetches a tensor map before its first copy.
__device__ __forceinline__ void prefetch_map(const CUtensorMap& map) {
#ifdef HONE_HAS_WGMMA
  asm volatile("prefetch.tensormap [%0];" ::"l"(reinterpret_cast<uint64_t>(&map)) : "memory");
#endif
}

/// Copies a box of a tiled map of three dimensions, at (c, tap, row).
__device__ __forceinline__ void copy_box(uint32_t target, const CUtensorMap& map, uint32_t barrier, int c,
                                         int tap, int row) {
#ifdef HONE_HAS_WGMMA
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, "
      "%5}], [%2];" ::"r"(target),
      "l"(reinterpret_cast<uint64_t>(&map)), "r"(barrier), "r"(c), "r"(tap), "r"(row)
      : "memory");
#endif
}

/// Copies a box of a tiled map of four dimensions, at column x and row y of all planes of image `n`.
__device__ __forceinline__ void copy_planes(uint32_t target, const CUtensorMap& map, uint32_t barrier, int x,
                                            int y, int n) {
#ifdef HONE_HAS_WGMMA
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, "
      "%5, %6}], [%2];" ::"r"(target),
      "l"(reinterpret_cast<uint64_t>(&map)), "r"(barrier), "r"(x), "r"(y), "r"(0), "r"(n)
      : "memory");
#endif
}

/// Copies a box of a map of four dimensions, at (channel, x, y, image). Elements outside the tensor are zero.
__device__ __forceinline__ void copy_pixels(uint32_t target, const CUtensorMap& map, uint32_t barrier,
                                            int channel, int x, int y, int image) {
#ifdef HONE_HAS_WGMMA
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, "
      "%5, %6}], [%2];" ::"r"(target),
      "l"(reinterpret_cast<uint64_t>(&map)), "r"(barrier), "r"(channel), "r"(x), "r"(y), "r"(image)
      : "memory");
#endif
}

/// Copies a column of window pixels by an im2col map: channels from c on, at the tap (tap_w, tap_h), which
/// already includes dilation.
__device__ __forceinline__ void copy_windows(uint32_t target, const CUtensorMap& map, uint32_t barrier, int c,
                                             const WindowCorner& corner, int tap_w, int tap_h) {
#ifdef HONE_HAS_WGMMA
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%3, "
      "%4, "
      "%5, %6}], [%2], {%7, %8};" ::"r"(target),
      "l"(reinterpret_cast<uint64_t>(&map)), "r"(barrier), "r"(c), "r"(corner.w), "r"(corner.h),
      "r"(corner.n), "h"(static_cast<uint16_t>(tap_w)), "h"(static_cast<uint16_t>(tap_h))
      : "memory");
#endif
}

/// Copies a box of a map of two dimensions, at (column, row), from global memory.
__device__ __forceinline__ void copy_rows(uint32_t target, const CUtensorMap& map, uint32_t barrier,
                                          int column, int row) {
#ifdef HONE_HAS_WGMMA
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, "
      "%4}], [%2];" ::"r"(target),
      "l"(reinterpret_cast<uint64_t>(&map)), "r"(barrier), "r"(column), "r"(row)
      : "memory");
#endif
}

/// Stores a box of a map of two dimensions to global memory. Elements outside the tensor are not written.
__device__ __forceinline__ void store_rows(const CUtensorMap& map, uint32_t source, int column, int row) {
#ifdef HONE_HAS_WGMMA
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(
                   reinterpret_cast<uint64_t>(&map)),
               "r"(source), "r"(column), "r"(row)
               : "memory");
#endif
}

/// Stores a box of a map of four dimensions, at (channel, x, y, image), to global memory.
__device__ __forceinline__ void store_pixels(const CUtensorMap& map, uint32_t source, int channel, int x,
                                             int y, int image) {
#ifdef HONE_HAS_WGMMA
  asm volatile(
      "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(
          reinterpret_cast<uint64_t>(&map)),
      "r"(source), "r"(channel), "r"(x), "r"(y), "r"(image)
      : "memory");
#endif
}

__device__ __forceinline__ void commit_stores() {
#ifdef HONE_HAS_WGMMA
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#endif
}

/// Waits until all but the newest kPending groups of this thread's stores have read shared memory.
template <int kPending = 0>
__device__ __forceinline__ void wait_stores_read() {
#ifdef HONE_HAS_WGMMA
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
#endif
}

/// Makes this thread's writes to shared memory visible to the copy unit.
__device__ __forceinline__ void fence_for_copies() {
#ifdef HONE_HAS_WGMMA
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/// stmatrix: stores four matrices of 8 x 8 elements of two bytes. Lanes 8 m to 8 m + 7 hold the row addresses
/// of matrix m. The registers are those of load_matrix_x4().
__device__ __forceinline__ void store_matrix_x4(uint32_t address, const uint32_t (&fragment)[4]) {
#ifdef HONE_HAS_WGMMA
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
               "r"(fragment[0]), "r"(fragment[1]), "r"(fragment[2]), "r"(fragment[3])
               : "memory");
#endif
}

/// stmatrix.trans: stores two matrices whose rows are columns
/// of the fragment, at the addresses of lanes 0 to 15.
__device__ __forceinline__ void store_matrix_x2_transposed(uint32_t address, const uint32_t (&fragment)[2]) {
#ifdef HONE_HAS_WGMMA
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(address),
               "r"(fragment[0]), "r"(fragment[1])
               : "memory");
#endif
}

/// Stores four such matrices, at the addresses of all lanes.
__device__ __forceinline__ void store_matrix_x4_transposed(uint32_t address, const uint32_t (&fragment)[4]) {
#ifdef HONE_HAS_WGMMA
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
               "r"(fragment[0]), "r"(fragment[1]), "r"(fragment[2]), "r"(fragment[3])
               : "memory");
#endif
}

/// Needed before the first wgmma, and whenever other instructions have touched the registers of sums.
__device__ __forceinline__ void fence_sums() {
#ifdef HONE_HAS_WGMMA
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}

__device__ __forceinline__ void commit_products() {
#ifdef HONE_HAS_WGMMA
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}

/// Waits until at most the newest kPending groups are incomplete.
template <int kPending>
__device__ __forceinline__ void wait_products() {
#ifdef HONE_HAS_WGMMA
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
#endif
}

// Register lists for the instruction: each thread has kN / 2 sums.
#define HONE_SUMS4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define HONE_SUMS16(d, i) HONE_SUMS4(d, i), HONE_SUMS4(d, i + 4), HONE_SUMS4(d, i + 8), HONE_SUMS4(d, i + 12)
#define HONE_SUMS28(d, i) \
  HONE_SUMS16(d, i), HONE_SUMS4(d, i + 16), HONE_SUMS4(d, i + 20), HONE_SUMS4(d, i + 24)
#define HONE_SUMS36(d, i) HONE_SUMS16(d, i), HONE_SUMS16(d, i + 16), HONE_SUMS4(d, i + 32)
#define HONE_SUMS52(d, i) HONE_SUMS36(d, i), HONE_SUMS16(d, i + 36)
#define HONE_SUMS60(d, i) \
  HONE_SUMS36(d, i), HONE_SUMS16(d, i + 36), HONE_SUMS4(d, i + 52), HONE_SUMS4(d, i + 56)
#define HONE_SUMS64(d, i) \
  HONE_SUMS16(d, i), HONE_SUMS16(d, i + 16), HONE_SUMS16(d, i + 32), HONE_SUMS16(d, i + 48)
#define HONE_NAMES16 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define HONE_NAMES28 HONE_NAMES16 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27"
#define HONE_NAMES32 HONE_NAMES28 ", %28, %29, %30, %31"
#define HONE_NAMES36 HONE_NAMES32 ", %32, %33, %34, %35"
#define HONE_NAMES52 \
  HONE_NAMES36       \
  ", %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51"
#define HONE_NAMES60 HONE_NAMES52 ", %52, %53, %54, %55, %56, %57, %58, %59"
#define HONE_NAMES64 HONE_NAMES60 ", %60, %61, %62, %63"
#define HONE_NAMES128                                                                      \
  HONE_NAMES64                                                                             \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "     \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "       \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, " \
  "%111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, "   \
  "%125, %126, %127"
#define HONE_WGMMA(n, type, names, a, b, ...)                                                                \
  asm volatile("wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type " {" names "}, %" #a ", %" #b \
               ", 1, 1, 1, 0, 0;"                                                                            \
               : __VA_ARGS__                                                                                 \
               : "l"(left), "l"(right))
#define HONE_WGMMA_LEFT(n, type, names, a0, a1, a2, a3, b, ...)                                       \
  asm volatile("wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type " {" names "}, {%" #a0 \
               ", %" #a1 ", %" #a2 ", %" #a3 "}, %" #b ", 1, 1, 1, 0;"                                \
               : __VA_ARGS__                                                                          \
               : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "l"(right))
#define HONE_WGMMA_ACROSS(type)                                                              \
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type " {" HONE_NAMES32 \
               "}, {%32, %33, %34, %35}, %36, 1, 1, 1, 1;"                                   \
               : HONE_SUMS16(d, 0), HONE_SUMS16(d, 16)                                       \
               : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "l"(right))
#ifdef HONE_HAS_WGMMA
#define HONE_WGMMA_LEFT_ALL(type)                                                                       \
  if constexpr (kN == 32) {                                                                             \
    HONE_WGMMA_LEFT(32, type, HONE_NAMES16, 16, 17, 18, 19, 20, HONE_SUMS16(d, 0));                     \
  } else if constexpr (kN == 56) {                                                                      \
    HONE_WGMMA_LEFT(56, type, HONE_NAMES28, 28, 29, 30, 31, 32, HONE_SUMS28(d, 0));                     \
  } else if constexpr (kN == 64) {                                                                      \
    HONE_WGMMA_LEFT(64, type, HONE_NAMES32, 32, 33, 34, 35, 36, HONE_SUMS16(d, 0), HONE_SUMS16(d, 16)); \
  } else if constexpr (kN == 72) {                                                                      \
    HONE_WGMMA_LEFT(72, type, HONE_NAMES36, 36, 37, 38, 39, 40, HONE_SUMS36(d, 0));                     \
  } else if constexpr (kN == 104) {                                                                     \
    HONE_WGMMA_LEFT(104, type, HONE_NAMES52, 52, 53, 54, 55, 56, HONE_SUMS52(d, 0));                    \
  } else if constexpr (kN == 120) {                                                                     \
    HONE_WGMMA_LEFT(120, type, HONE_NAMES60, 60, 61, 62, 63, 64, HONE_SUMS60(d, 0));                    \
  } else {                                                                                              \
    static_assert(kN == 128);                                                                           \
    HONE_WGMMA_LEFT(128, type, HONE_NAMES64, 64, 65, 66, 67, 68, HONE_SUMS64(d, 0));                    \
  }
#define HONE_WGMMA_ALL(type)                                                               \
  if constexpr (kN == 32) {                                                                \
    HONE_WGMMA(32, type, HONE_NAMES16, 16, 17, HONE_SUMS16(d, 0));                         \
  } else if constexpr (kN == 56) {                                                         \
    HONE_WGMMA(56, type, HONE_NAMES28, 28, 29, HONE_SUMS28(d, 0));                         \
  } else if constexpr (kN == 64) {                                                         \
    HONE_WGMMA(64, type, HONE_NAMES32, 32, 33, HONE_SUMS16(d, 0), HONE_SUMS16(d, 16));     \
  } else if constexpr (kN == 104) {                                                        \
    HONE_WGMMA(104, type, HONE_NAMES52, 52, 53, HONE_SUMS52(d, 0));                        \
  } else if constexpr (kN == 120) {                                                        \
    HONE_WGMMA(120, type, HONE_NAMES60, 60, 61, HONE_SUMS60(d, 0));                        \
  } else if constexpr (kN == 128) {                                                        \
    HONE_WGMMA(128, type, HONE_NAMES64, 64, 65, HONE_SUMS64(d, 0));                        \
  } else {                                                                                 \
    static_assert(kN == 256);                                                              \
    HONE_WGMMA(256, type, HONE_NAMES128, 128, 129, HONE_SUMS64(d, 0), HONE_SUMS64(d, 64)); \
  }
#else
#define HONE_WGMMA_LEFT_ALL(type)
#define HONE_WGMMA_ALL(type)
#endif

/// Starts d += left * right for 64 x kN x 16, both with the depth along rows (matrix_descriptor()). Element
/// d[4 j + 2 h + i] is row lane / 4 + 8 h of the warp's 16, column 8 j + lane % 4 * 2 + i.
template <class T, int kN>
__device__ __forceinline__ void multiply(float (&d)[kN / 2], uint64_t left, uint64_t right) {
  if constexpr (__is_same(T, __half)) {
    HONE_WGMMA_ALL("f16");
  } else {
    HONE_WGMMA_ALL("bf16");
  }
}

/// Multiplies with the left matrix in registers. Register left[2 i + h] holds row lane / 4 + 8 h of the
/// warp's 16, in columns 8 i + lane % 4 * 2 and the next; the sums of two adjacent j of d have the same
/// order. The registers must not change until the product has been waited for.
template <class T, int kN>
__device__ __forceinline__ void multiply(float (&d)[kN / 2], const uint32_t (&left)[4], uint64_t right) {
  if constexpr (__is_same(T, __half)) {
    HONE_WGMMA_LEFT_ALL("f16");
  } else {
    HONE_WGMMA_LEFT_ALL("bf16");
  }
}

/// Multiplies into 64 columns with a right matrix whose depth runs across rows: 16 rows of 64 columns
/// (matrix_descriptor()).
template <class T>
__device__ __forceinline__ void multiply_across(float (&d)[32], const uint32_t (&left)[4], uint64_t right) {
#ifdef HONE_HAS_WGMMA
  if constexpr (__is_same(T, __half)) {
    HONE_WGMMA_ACROSS("f16");
  } else {
    HONE_WGMMA_ACROSS("bf16");
  }
#endif
}

#undef HONE_WGMMA_ACROSS
#undef HONE_WGMMA_LEFT_ALL
#undef HONE_WGMMA_LEFT
#undef HONE_WGMMA_ALL
#undef HONE_WGMMA
#undef HONE_NAMES128
#undef HONE_NAMES64
#undef HONE_NAMES60
#undef HONE_NAMES52
#undef HONE_NAMES36
#undef HONE_NAMES32
#undef HONE_NAMES28
#undef HONE_NAMES16
#undef HONE_SUMS64
#undef HONE_SUMS60
#undef HONE_SUMS52
#undef HONE_SUMS36
#undef HONE_SUMS28
#undef HONE_SUMS16
#undef HONE_SUMS4

}  // namespace hone::device::cuda::ptx
