// Emulated: the functions of the header of this name, by the CPU. That header describes what they do.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>

#include "device/cuda/emulator/device_functions.hpp"

namespace hone::device::cuda::ptx {

inline uint32_t shared_address(const void* pointer) { return emulator::shared_address(pointer); }

template <class T>
T in_register(T value) {
  return value;
}
inline void hold(float& /*value*/) {}

inline float larger(float a, float b) { return std::isnan(a) || a > b ? a : b; }
inline float power_of_two(float x) { return std::exp2(x); }
inline float reciprocal(float x) { return 1 / x; }
inline uint4 load_constant(const uint4* from) { return *from; }

inline uint64_t global_time() { return 0; }
inline uint32_t clock_ticks() { return 0; }

inline float from_neighbour(float value) { return __shfl_xor_sync(~0U, value, 1); }

inline void copy16(uint32_t target, const void* source, bool valid) {
  emulator::copy_async(target, source, 16, valid);
}
inline void copy4(uint32_t target, const void* source, bool valid) {
  emulator::copy_async(target, source, 4, valid);
}
inline void commit_copies() { emulator::commit_copies(); }
template <int kPending>
void wait_copies() {
  emulator::wait_copies(kPending);
}

inline void load_matrix_x4(uint32_t (&fragment)[4], uint32_t address) {
  emulator::load_matrix(address, fragment);
}

inline void load_matrix_x4_transposed(uint32_t (&fragment)[4], uint32_t address) {
  emulator::load_transposed(address, fragment);
}

template <class T>
void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  const auto type = __is_same(T, __half)          ? emulator::MatrixType::kHalf
                    : __is_same(T, __nv_bfloat16) ? emulator::MatrixType::kBFloat16
                                                  : emulator::MatrixType::kTf32;
  emulator::multiply_by_warp(type, d, a, b0, b1);
}
struct Tf32 {
  float value;
};
inline void round_to_tf32(uint32_t (&fragment)[4]) {
  constexpr uint32_t kLost = 13;  // bits
  for (uint32_t& bits : fragment) bits = (bits + (1U << (kLost - 1))) >> kLost << kLost;
}

inline float4 load_shared(uint32_t address) {
  float4 value;
  emulator::load_shared(address, &value, sizeof value);
  return value;
}

inline void load_words(uint32_t (&words)[4], uint32_t address) {
  emulator::load_shared(address, words, sizeof words);
}

inline void wait_for_previous_kernel() { emulator::wait_for_previous_kernel(); }
inline void prefetch_to_l2(const void* /*from*/) {}
inline void allow_next_kernel() {}

inline void arrive_cluster() { emulator::arrive_cluster(); }
inline void wait_cluster() { emulator::wait_cluster(); }
inline void sync_cluster() {
  emulator::arrive_cluster();
  emulator::wait_cluster();
}

inline uint32_t address_in_block(uint32_t address, uint32_t rank) {
  return emulator::address_in_block(address, rank);
}
inline void store_remote(uint32_t address, float value) { emulator::store_remote(address, &value, 4); }
inline void store_remote(uint32_t address, const float4& value) {
  emulator::store_remote(address, &value, 16);
}
inline void store_counted(uint32_t address, const float4& value, uint32_t barrier) {
  emulator::store_counted(address, &value, 16, barrier);
}
inline float4 load_from_block(uint32_t address, uint32_t rank) {
  float4 value;
  emulator::load_remote(address_in_block(address, rank), &value, 16);
  return value;
}

inline void init_copy_barrier(uint32_t barrier) {
  emulator::init_barrier(barrier, 1);
  emulator::fence_barriers();
}
inline void wait_copy_barrier(uint32_t barrier) { emulator::wait_barrier(barrier, 0); }
inline void expect_copies(uint32_t barrier, uint32_t bytes) { emulator::arrive_expecting(barrier, bytes); }
inline void copy_bulk(uint32_t target, const void* source, uint32_t bytes, uint32_t barrier) {
  emulator::copy_bulk(target, source, bytes, barrier);
}

}  // namespace hone::device::cuda::ptx
