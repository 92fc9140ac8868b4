// PTX instructions that our kernels use and that have no name in CUDA C++. The comments name sections of PTX
// ISA 9.0. The functions are empty on architectures without the instruction; kernels refuse those devices
// (DeviceProperties).
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace hone::device::cuda::ptx {

__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

/// Keeps the value in a register from here on. The compiler would otherwise read a parameter again at each
/// use, which takes longer than anything else in a short loop.
template <class T>
__device__ __forceinline__ T in_register(T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  if constexpr (sizeof(T) == 4) {
    asm volatile("" : "+r"(value));
  } else {
    asm volatile("" : "+l"(value));
  }
  return value;
}

/// Keeps the compiler from moving reads of the value to before this point.
__device__ __forceinline__ void hold(float& value) { asm volatile("" : "+f"(value)); }

/// The larger of two values; NaN if either is NaN.
__device__ __forceinline__ float larger(float a, float b) {
  float result = 0;
#if __CUDA_ARCH__ >= 800
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
#endif
  return result;
}

/// 2 to the power of x, to 2 ulp (5 ulp if |x| > 2); 0 if the result would be subnormal.
__device__ __forceinline__ float power_of_two(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// 1 / x to 1 ulp; 0 if the result would be subnormal.
__device__ __forceinline__ float reciprocal(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// Loads 16 bytes that no kernel writes. The load stays
/// here; the compiler would move an ordinary one to its use.
__device__ __forceinline__ uint4 load_constant(const uint4* from) {
  uint4 value;
  asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(from));
  return value;
}

/// Nanoseconds; on an H200 the timer advances in steps of 32.
__device__ __forceinline__ uint64_t global_time() {
  uint64_t time;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
  return time;
}

/// Ticks of the multiprocessor's own clock, which is fast to read.
__device__ __forceinline__ uint32_t clock_ticks() {
  uint32_t ticks;
  asm volatile("mov.u32 %0, %clock;" : "=r"(ticks));
  return ticks;
}

/// The value of the lane whose index differs in the lowest bit. __shfl_xor_sync() treats floats as integers;
/// the compiler then loses track of the sums of wgmma and waits for every product.
__device__ __forceinline__ float from_neighbour(float value) {
  float other;
  asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 31, 0xffffffff;" : "=f"(other) : "f"(value));
  return other;
}

/// cp.async: copies 16 bytes to shared memory, or zeros without reading `source` if not `valid`. A GPU
/// without such copies loads and stores instead, and the copy is then complete on return.
__device__ __forceinline__ void copy16(uint32_t target, const void* source, bool valid) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(source), "r"(valid ? 16 : 0)
               : "memory");
#else
  const uint4 value = valid ? *static_cast<const uint4*>(source) : make_uint4(0, 0, 0, 0);
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(target), "r"(value.x), "r"(value.y),
               "r"(value.z), "r"(value.w)
               : "memory");
#endif
}

/// cp.async of 4 bytes; the arguments are those of copy16.
__device__ __forceinline__ void copy4(uint32_t target, const void* source, bool valid) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(target), "l"(source), "r"(valid ? 4 : 0)
               : "memory");
#endif
}

__device__ __forceinline__ void commit_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until at most the newest kPending groups of this thread's copies are incomplete.
template <int kPending>
__device__ __forceinline__ void wait_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
#endif
}

__device__ __forceinline__ void load_matrix_x4(uint32_t (&fragment)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
               : "r"(address)
               : "memory");
}

/// ldmatrix.trans: loads matrices whose rows are columns of the fragment.
__device__ __forceinline__ void load_matrix_x4_transposed(uint32_t (&fragment)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
               : "r"(address)
               : "memory");
}

/// D += A * B for 16 x 8 x 16, A row-major, B column-major, sums in float32.
template <class T>
__device__ __forceinline__ void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1);

template <>
__device__ __forceinline__ void mma<__half>(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

template <>
__device__ __forceinline__ void mma<__nv_bfloat16>(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                                                   uint32_t b1) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

/// A float of which tensor cores multiply only the first 11 bits of the significand.
struct Tf32 {
  float value;
};

/// Rounds to the nearest tf32, since mma itself truncates.
__device__ __forceinline__ void round_to_tf32(uint32_t (&fragment)[4]) {
#pragma unroll
  for (uint32_t& bits : fragment) {
#if __CUDA_ARCH__ >= 800
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(__uint_as_float(bits)));
#endif
  }
}

/// The product for 16 x 8 x 8.
template <>
__device__ __forceinline__ void mma<Tf32>(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

/// Four floats from this block's shared memory.
__device__ __forceinline__ float4 load_shared(uint32_t address) {
  float4 value;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
               : "r"(address)
               : "memory");
  return value;
}

/// Four words from this block's shared memory.
__device__ __forceinline__ void load_words(uint32_t (&words)[4], uint32_t address) {
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(address)
               : "memory");
}

/// Prefetches memory into the L2 cache, where later writes of other kernels are still seen.
__device__ __forceinline__ void prefetch_to_l2(const void* from) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(from) : "memory");
}

/// griddepcontrol.wait: returns when the previous kernels have finished and their writes are visible. It
/// returns at once in an ordinary launch.
__device__ __forceinline__ void wait_for_previous_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// griddepcontrol.launch_dependents: lets the next kernel start as soon as every block has executed it.
__device__ __forceinline__ void allow_next_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Barrier of all threads of the cluster. Writes before it,
/// also those to shared memory, are visible after it.
__device__ __forceinline__ void sync_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
#endif
}

/// mbarrier: a barrier in shared memory (8 bytes, 8-byte aligned) with one
/// arriving thread, completed by copies. It is visible to the copies of
/// this block at once, and to its other threads after the next barrier.
__device__ __forceinline__ void init_copy_barrier(uint32_t barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(barrier)
               : "memory");
#endif
}

/// Arrives at the barrier and announces the number of bytes that will be copied.
__device__ __forceinline__ void expect_copies(uint32_t barrier, uint32_t bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
#endif
}

/// cp.async.bulk: copies `bytes`, a multiple of 16, between addresses that are multiples of 16.
__device__ __forceinline__ void copy_bulk(uint32_t target, const void* source, uint32_t bytes,
                                          uint32_t barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(target),
      "l"(source), "r"(bytes), "r"(barrier)
      : "memory");
#endif
}

/// Waits until the barrier's first phase is complete.
__device__ __forceinline__ void wait_copy_barrier(uint32_t barrier) {
#if __CUDA_ARCH__ >= 900
  uint32_t done = 0;
  while (done == 0) {
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(barrier)
        : "memory");
  }
#endif
}

/// First half of sync_cluster(), without its memory ordering:
/// signals that this thread has reached this point.
__device__ __forceinline__ void arrive_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
#endif
}

__device__ __forceinline__ void wait_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait;" ::: "memory");
#endif
}

/// The address in block `rank` of the cluster that corresponds to `address` in this block.
__device__ __forceinline__ uint32_t address_in_block(uint32_t address, uint32_t rank) {
  uint32_t remote = 0;
#if __CUDA_ARCH__ >= 900
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(rank));
#endif
  return remote;
}

/// Stores a float at an address from address_in_block().
__device__ __forceinline__ void store_remote(uint32_t address, float value) {
#if __CUDA_ARCH__ >= 900
  asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(address), "f"(value) : "memory");
#endif
}

/// Stores four floats at an address from address_in_block().
__device__ __forceinline__ void store_remote(uint32_t address, const float4& value) {
#if __CUDA_ARCH__ >= 900
  asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(address), "f"(value.x), "f"(value.y),
               "f"(value.z), "f"(value.w)
               : "memory");
#endif
}

/// Stores four floats too; the barrier at `barrier` of that block counts them as 16 bytes copied.
__device__ __forceinline__ void store_counted(uint32_t address, const float4& value, uint32_t barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
          address),
      "f"(value.x), "f"(value.y), "f"(value.z), "f"(value.w), "r"(barrier)
      : "memory");
#endif
}

/// Loads four floats from the shared memory of block `rank`,
/// at the address that corresponds to `address` here.
__device__ __forceinline__ float4 load_from_block(uint32_t address, uint32_t rank) {
  float4 value{};
#if __CUDA_ARCH__ >= 900
  uint32_t remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(rank));
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
               : "r"(remote)
               : "memory");
#endif
  return value;
}

}  // namespace hone::device::cuda::ptx
