// Emulated: the functions of the header of this name, by the CPU. That header describes what they do.
#pragma once

#include <cuda.h>

#include "device/cuda/plugin/kernels/common/ptx.cuh"
#include "device/cuda/plugin/kernels/common/wgmma_operands.cuh"

namespace hone::device::cuda::ptx {

inline int warp() { return __shfl_sync(~0U, static_cast<int>(threadIdx.x) / 32, 0); }
inline int warpgroup() { return warp() / 4; }
inline bool elected() { return emulator::elected(); }

/// Registers are not counted.
template <int kCount>
void give_registers() {}
template <int kCount>
void take_registers() {}

inline void init_barrier(uint32_t barrier, uint32_t arrivals) { emulator::init_barrier(barrier, arrivals); }
inline void fence_barriers() { emulator::fence_barriers(); }
inline void sync_threads(int number, int count) { emulator::sync_threads(number, count); }
inline void arrive(uint32_t barrier) { emulator::arrive(barrier); }
inline void wait_barrier(uint32_t barrier, uint32_t parity) { emulator::wait_barrier(barrier, parity); }
inline void wait_received(uint32_t barrier) { emulator::wait_barrier(barrier, 0); }

inline void prefetch_map(const CUtensorMap& /*map*/) {}
inline void copy_box(uint32_t target, const CUtensorMap& map, uint32_t barrier, int c, int tap, int row) {
  emulator::copy_box(target, map, barrier, {c, tap, row});
}
inline void copy_planes(uint32_t target, const CUtensorMap& map, uint32_t barrier, int x, int y, int n) {
  emulator::copy_box(target, map, barrier, {x, y, 0, n});
}
inline void copy_pixels(uint32_t target, const CUtensorMap& map, uint32_t barrier, int channel, int x, int y,
                        int image) {
  emulator::copy_box(target, map, barrier, {channel, x, y, image});
}
inline void copy_windows(uint32_t target, const CUtensorMap& map, uint32_t barrier, int c,
                         const WindowCorner& corner, int tap_w, int tap_h) {
  emulator::copy_column(target, map, barrier, c, corner.w, corner.h, corner.n, tap_w, tap_h);
}
inline void copy_rows(uint32_t target, const CUtensorMap& map, uint32_t barrier, int column, int row) {
  emulator::copy_box(target, map, barrier, {column, row});
}
inline void store_rows(const CUtensorMap& map, uint32_t source, int column, int row) {
  emulator::store_box(map, source, {column, row});
}
inline void store_pixels(const CUtensorMap& map, uint32_t source, int channel, int x, int y, int image) {
  emulator::store_box(map, source, {channel, x, y, image});
}
inline void commit_stores() { emulator::commit_stores(); }
template <int kPending = 0>
void wait_stores_read() {
  emulator::wait_stores_read(kPending);
}
inline void fence_for_copies() { emulator::fence_for_copies(); }

inline void store_matrix_x4(uint32_t address, const uint32_t (&fragment)[4]) {
  emulator::store_matrix(address, fragment);
}

inline void store_matrix_x2_transposed(uint32_t address, const uint32_t (&fragment)[2]) {
  emulator::store_transposed(address, fragment, 2);
}
inline void store_matrix_x4_transposed(uint32_t address, const uint32_t (&fragment)[4]) {
  emulator::store_transposed(address, fragment, 4);
}

inline void fence_sums() { emulator::fence_sums(); }
inline void commit_products() { emulator::commit_products(); }
template <int kPending>
void wait_products() {
  emulator::wait_products(kPending);
}
template <class T, int kN>
void multiply(float (&d)[kN / 2], uint64_t left, uint64_t right) {
  emulator::multiply(__is_same(T, __half), kN, d, nullptr, left, right);
}
template <class T, int kN>
void multiply(float (&d)[kN / 2], const uint32_t (&left)[4], uint64_t right) {
  emulator::multiply(__is_same(T, __half), kN, d, left, 0, right);
}
template <class T>
void multiply_across(float (&d)[32], const uint32_t (&left)[4], uint64_t right) {
  emulator::multiply(__is_same(T, __half), 64, d, left, 0, right, true);
}

}  // namespace hone::device::cuda::ptx
