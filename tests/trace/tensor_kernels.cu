// A kernel for each kind of instruction for Tensor Cores that an architecture has, and one without any. Only
// compiled, never run.
#include <cstdint>

// clang-format off
#define HONE_MMA(name, kind, type, letter) \
  extern "C" __global__ void name(type* d, uint32_t a) { \
    asm volatile("mma.sync.aligned." kind " {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};" \
                 : "+" letter(d[0]), "+" letter(d[1]), "+" letter(d[2]), "+" letter(d[3]) : "r"(a)); \
  }
#define HONE_WGMMA(name, kind, left, tail, type, letter) \
  extern "C" __global__ void name(type* d, uint64_t b, uint32_t a) { \
    asm volatile("wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned." kind " {%0, %1, %2, %3}, " left ", %4, " tail ";" \
                 "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" \
                 : "+" letter(d[0]), "+" letter(d[1]), "+" letter(d[2]), "+" letter(d[3]) : "l"(b), "r"(a)); \
  }
#define HONE_TCGEN05(name, kind, left) \
  extern "C" __global__ void name(uint32_t d, uint64_t b) { \
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %0, 0; tcgen05.mma.cta_group::1.kind::" kind " [%0], " left ", %1, %0, p; }" \
                 ::"r"(d), "l"(b)); \
  }
// clang-format on

extern "C" __global__ void plain(float* x) { x[threadIdx.x] = x[threadIdx.x] * 2 + 1; }

#if __CUDA_ARCH__ >= 800
HONE_MMA(halves, "m16n8k16.row.col.f32.f16.f16.f32", float, "f")
HONE_MMA(brains, "m16n8k16.row.col.f32.bf16.bf16.f32", float, "f")
HONE_MMA(tf32, "m16n8k8.row.col.f32.tf32.tf32.f32", float, "f")
HONE_MMA(integers, "m16n8k32.row.col.s32.s8.s8.s32", uint32_t, "r")
HONE_MMA(bits, "m16n8k256.row.col.s32.b1.b1.s32.and.popc", uint32_t, "r")
extern "C" __global__ void doubles(double* d, double a) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%2}, {%0, %1};"
               : "+d"(d[0]), "+d"(d[1])
               : "d"(a));
}
#else
extern "C" __global__ void halves(float* d, uint32_t a) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4}, {%4}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a));
}
#endif

#if __CUDA_ARCH__ == 900
HONE_WGMMA(warpgroup_halves, "m64n8k16.f32.f16.f16", "%4", "1, 1, 1, 0, 0", float, "f")
HONE_WGMMA(warpgroup_registers, "m64n8k16.f32.f16.f16", "{%5, %5, %5, %5}", "1, 1, 1, 0", float, "f")
HONE_WGMMA(warpgroup_tf32, "m64n8k8.f32.tf32.tf32", "%4", "1, 1, 1", float, "f")
HONE_WGMMA(warpgroup_bytes, "m64n8k32.f32.e4m3.e4m3", "%4", "1, 1, 1", float, "f")
HONE_WGMMA(warpgroup_integers, "m64n8k32.s32.s8.s8", "%4", "1", uint32_t, "r")
HONE_WGMMA(warpgroup_bits, "m64n8k256.s32.b1.b1.and.popc", "%4", "1", uint32_t, "r")
#elif __CUDA_ARCH__ == 1000
HONE_TCGEN05(tensor_memory_halves, "f16", "%1")
HONE_TCGEN05(tensor_memory_left, "f16", "[%0]")
HONE_TCGEN05(tensor_memory_bytes, "f8f6f4", "%1")
HONE_TCGEN05(tensor_memory_integers, "i8", "%1")
#elif __CUDA_ARCH__ == 1200
HONE_MMA(bytes, "kind::f8f6f4.m16n8k32.row.col.f32.e4m3.e4m3.f32", float, "f")
#endif
