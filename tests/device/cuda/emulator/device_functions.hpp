// What nvcc gives kernels and a compiler for the CPU does not: included ahead of every emulated source.
#pragma once

#define __device__
#define __global__
#define __shared__
#define __grid_constant__

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "device/cuda/emulator/instructions.hpp"

#undef __forceinline__
#undef __launch_bounds__
#define __forceinline__ inline
#define __launch_bounds__(...)

extern uint3 threadIdx;
extern uint3 blockIdx;
extern dim3 blockDim;
extern dim3 gridDim;

namespace hone::device::cuda {

/// The running block's shared memory, by the name that kernels give it.
extern unsigned char memory[];

using std::max;
using std::min;

inline void __syncthreads() { emulator::sync_threads(0, 0); }
inline void __syncwarp() { emulator::sync_warp(); }

template <class T>
T __shfl_sync(unsigned /*mask*/, T value, int lane) {
  static_assert(sizeof(T) == 4);
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits = emulator::from_lane(bits, lane);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lanes) {
  return __shfl_sync(mask, value, static_cast<int>(threadIdx.x) % 32 ^ lanes);
}

template <class T>
T __ldg(const T* from) {
  return *from;
}
template <class T>
T __ldcg(const T* from) {
  return *from;
}
template <class T>
void __stcg(T* to, T value) {
  *to = value;
}

inline int __ffs(int x) { return __builtin_ffs(x); }
inline float __expf(float x) { return std::exp(x); }
inline float __saturatef(float x) { return std::isnan(x) ? 0 : std::clamp(x, 0.0F, 1.0F); }
inline float __fdividef(float x, float y) { return x / y; }
inline uint32_t __umulhi(uint32_t x, uint32_t y) { return static_cast<uint32_t>(uint64_t{x} * y >> 32); }

template <class T>
T atomicMax(T* at, std::type_identity_t<T> value) {
  const T before = *at;
  *at = max(before, value);
  return before;
}

// Named by headers of emulated kernels, and called by others.
void __threadfence();
int __syncthreads_or(int predicate);
unsigned atomicInc(unsigned* at, unsigned most);

}  // namespace hone::device::cuda
