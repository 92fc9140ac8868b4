// Matrix products of bytes by a warpgroup (wgmma with int32 sums). PTX ISA 9.0, 9.7.15.
#pragma once

#include "device/cuda/plugin/kernels/common/wgmma.cuh"

namespace hone::device::cuda::ptx {

// Register lists for the instruction: each thread has kN / 2 sums.
#define HONE_INTS4(d, i) "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3])
#define HONE_INTS16(d, i) HONE_INTS4(d, i), HONE_INTS4(d, i + 4), HONE_INTS4(d, i + 8), HONE_INTS4(d, i + 12)
#define HONE_INTS64(d, i) \
  HONE_INTS16(d, i), HONE_INTS16(d, i + 16), HONE_INTS16(d, i + 32), HONE_INTS16(d, i + 48)
#define HONE_NAMES16 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define HONE_NAMES32 \
  HONE_NAMES16       \
  ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define HONE_NAMES64                                                                   \
  HONE_NAMES32                                                                         \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define HONE_NAMES128                                                                      \
  HONE_NAMES64                                                                             \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "     \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "       \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, " \
  "%111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, "   \
  "%125, %126, %127"
#define HONE_WGMMA_BYTES(n, type, names, a, b, ...)                                                    \
  asm volatile("wgmma.mma_async.sync.aligned.m64n" #n "k32.s32." type ".s8 {" names "}, %" #a ", %" #b \
               ", 1;"                                                                                  \
               : __VA_ARGS__                                                                           \
               : "l"(left), "l"(right))
#ifdef HONE_HAS_WGMMA
#define HONE_WGMMA_BYTES_ALL(type)                                                               \
  if constexpr (kN == 32) {                                                                      \
    HONE_WGMMA_BYTES(32, type, HONE_NAMES16, 16, 17, HONE_INTS16(d, 0));                         \
  } else if constexpr (kN == 64) {                                                               \
    HONE_WGMMA_BYTES(64, type, HONE_NAMES32, 32, 33, HONE_INTS16(d, 0), HONE_INTS16(d, 16));     \
  } else if constexpr (kN == 128) {                                                              \
    HONE_WGMMA_BYTES(128, type, HONE_NAMES64, 64, 65, HONE_INTS64(d, 0));                        \
  } else {                                                                                       \
    static_assert(kN == 256);                                                                    \
    HONE_WGMMA_BYTES(256, type, HONE_NAMES128, 128, 129, HONE_INTS64(d, 0), HONE_INTS64(d, 64)); \
  }
#else
#define HONE_WGMMA_BYTES_ALL(type)
#endif

/// Starts d += left * right for 64 x kN x 32, both with the depth along rows (matrix_descriptor()). The right
/// matrix is signed; the left one is unsigned if kUnsigned. The sums have the order of multiply().
template <bool kUnsigned, int kN>
__device__ __forceinline__ void multiply_bytes(int32_t (&d)[kN / 2], uint64_t left, uint64_t right) {
  if constexpr (kUnsigned) {
    HONE_WGMMA_BYTES_ALL("u8");
  } else {
    HONE_WGMMA_BYTES_ALL("s8");
  }
}

/// Converts four integers to unsigned bytes with saturation, the first one in the lowest bits.
__device__ __forceinline__ uint32_t pack_unsigned_bytes(int a, int b, int c, int d) {
  uint32_t high;
  uint32_t bytes;
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;" : "=r"(high) : "r"(d), "r"(c));
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(b), "r"(a), "r"(high));
  return bytes;
}

#undef HONE_WGMMA_BYTES_ALL
#undef HONE_WGMMA_BYTES
#undef HONE_NAMES128
#undef HONE_NAMES64
#undef HONE_NAMES32
#undef HONE_NAMES16
#undef HONE_INTS64
#undef HONE_INTS16
#undef HONE_INTS4

}  // namespace hone::device::cuda::ptx
