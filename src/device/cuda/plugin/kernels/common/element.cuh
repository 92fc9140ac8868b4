// Reads and writes elements in kernels: conversion to float, 16-byte accesses, fast division.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstring>

#include "device/cuda/plugin/kernels/common/launch.cuh"

namespace hone::device::cuda {

__device__ __forceinline__ float to_float(float x) { return x; }
__device__ __forceinline__ float to_float(__half x) { return __half2float(x); }
__device__ __forceinline__ float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }

template <class T>
__device__ __forceinline__ T from_float(float x) {
  if constexpr (sizeof(T) == 4) {
    return x;
  } else if constexpr (__is_same(T, __half)) {
    return __float2half_rn(x);
  } else {
    return __float2bfloat16_rn(x);
  }
}

/// The unsigned type of this many bytes.
template <int bytes>
struct WordOf;
template <>
struct WordOf<1> {
  using Type = uint8_t;
};
template <>
struct WordOf<2> {
  using Type = uint16_t;
};
template <>
struct WordOf<4> {
  using Type = uint32_t;
};
template <>
struct WordOf<8> {
  using Type = uint2;
};
template <>
struct WordOf<16> {
  using Type = uint4;
};

/// Elements in 16 bytes.
template <class T>
constexpr int kVector = 16 / static_cast<int>(sizeof(T));

/// Loads `count` adjacent elements in accesses of up to 16 bytes; the address is aligned to one access.
template <int count, class T>
__device__ __forceinline__ void load(const T* from, T (&to)[count]) {
  constexpr int kBytes = count * static_cast<int>(sizeof(T));
  constexpr int kAccess = kBytes < 16 ? kBytes : 16;
  using Word = typename WordOf<kAccess>::Type;
#pragma unroll
  for (int i = 0; i < kBytes / kAccess; ++i) {
    const Word word = reinterpret_cast<const Word*>(from)[i];
    memcpy(to + i * (kAccess / static_cast<int>(sizeof(T))), &word, kAccess);
  }
}

template <int count, class T>
__device__ __forceinline__ void store(T* to, const T (&from)[count]) {
  constexpr int kBytes = count * static_cast<int>(sizeof(T));
  constexpr int kAccess = kBytes < 16 ? kBytes : 16;
  using Word = typename WordOf<kAccess>::Type;
#pragma unroll
  for (int i = 0; i < kBytes / kAccess; ++i) {
    Word word;
    memcpy(&word, from + i * (kAccess / static_cast<int>(sizeof(T))), kAccess);
    reinterpret_cast<Word*>(to)[i] = word;
  }
}

template <int count, class T>
__device__ __forceinline__ void load_floats(const T* from, float (&to)[count]) {
  T values[count];
  load<count>(from, values);
#pragma unroll
  for (int i = 0; i < count; ++i) to[i] = to_float(values[i]);
}

template <int count, class T>
__device__ __forceinline__ void store_floats(T* to, const float (&from)[count]) {
  T values[count];
#pragma unroll
  for (int i = 0; i < count; ++i) values[i] = from_float<T>(from[i]);
  store<count>(to, values);
}

/// Division by a number known at launch. The 32-bit version multiplies and shifts; it is exact for dividends
/// below 2^31 (Granlund and Montgomery, "Division by invariant integers using multiplication", 1994).
template <class Index>
struct Divisor {
  Index value = 1;
  Divisor() = default;
  explicit Divisor(int64_t divisor) : value(static_cast<Index>(divisor)) {}
  __device__ __forceinline__ Index quotient(Index n) const { return n / value; }
};

template <>
struct Divisor<uint32_t> {
  uint32_t value = 1;
  uint32_t multiplier = 1;
  uint32_t shift = 0;
  Divisor() = default;
  explicit Divisor(int64_t divisor) : value(static_cast<uint32_t>(divisor)) {
    while ((uint64_t{1} << shift) < value) ++shift;
    multiplier = static_cast<uint32_t>(((uint64_t{1} << 32) * ((uint64_t{1} << shift) - value)) / value + 1);
  }
  __device__ __forceinline__ uint32_t quotient(uint32_t n) const {
    return (__umulhi(n, multiplier) + n) >> shift;
  }
};

/// Splits off the last dimension of a flat index: returns its coordinate and leaves the rest in `index`.
template <class Index>
__device__ __forceinline__ Index take_coordinate(Index& index, const Divisor<Index>& size) {
  const Index rest = size.quotient(index);
  const Index coordinate = index - rest * size.value;
  index = rest;
  return coordinate;
}

/// Calls `function.template operator()<T>()` with the type of `type`.
template <class Function>
cudaError_t with_float_type(FloatType type, const Function& function) {
  switch (type) {
    case FloatType::kFloat: return function.template operator()<float>();
    case FloatType::kHalf: return function.template operator()<__half>();
    case FloatType::kBfloat16: return function.template operator()<__nv_bfloat16>();
  }
  return cudaErrorInvalidValue;
}

/// Calls `function` with the unsigned type of 1, 2, 4 or 8 bytes, for kernels that only move data.
template <class Function>
cudaError_t with_word(size_t bytes, const Function& function) {
  switch (bytes) {
    case 1: return function.template operator()<uint8_t>();
    case 2: return function.template operator()<uint16_t>();
    case 4: return function.template operator()<uint32_t>();
    case 8: return function.template operator()<uint64_t>();
    default: return cudaErrorInvalidValue;
  }
}

/// Calls `function` with uint32_t if all indices below
/// `count` suit the fast division, otherwise with uint64_t.
template <class Function>
cudaError_t with_index(int64_t count, const Function& function) {
  if (count < (int64_t{1} << 31)) return function.template operator()<uint32_t>();
  return function.template operator()<uint64_t>();
}

inline bool is_aligned(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer) % 16 == 0; }

/// Index of this thread in a one-dimensional grid; grid_threads() is the number of threads.
__device__ __forceinline__ int64_t thread_index() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ int64_t grid_threads() { return static_cast<int64_t>(gridDim.x) * blockDim.x; }

}  // namespace hone::device::cuda
