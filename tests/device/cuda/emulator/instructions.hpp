// The instructions of ptx.cuh and wgmma.cuh, by the running thread. Addresses are those of shared memory.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <initializer_list>

namespace hone::device::cuda::emulator {

uint32_t shared_address(const void* pointer);
void wait_for_previous_kernel();

void sync_warp();
void sync_threads(int number, int count);
void arrive_cluster();
void wait_cluster();
/// Every lane's value, of which each picks one.
uint32_t from_lane(uint32_t value, int lane);
bool elected();

void init_barrier(uint32_t barrier, uint32_t arrivals);
void fence_barriers();
void arrive(uint32_t barrier);
void arrive_expecting(uint32_t barrier, uint32_t bytes);
void wait_barrier(uint32_t barrier, uint32_t parity);

/// Zeros where not `valid`.
void copy_async(uint32_t target, const void* source, uint32_t bytes, bool valid);
void commit_copies();
void wait_copies(int pending);
void copy_bulk(uint32_t target, const void* source, uint32_t bytes, uint32_t barrier);
void copy_box(uint32_t target, const CUtensorMap& map, uint32_t barrier, std::initializer_list<int> corner);
void copy_column(uint32_t target, const CUtensorMap& map, uint32_t barrier, int channel, int w, int h, int n,
                 int tap_w, int tap_h);
void store_box(const CUtensorMap& map, uint32_t source, std::initializer_list<int> corner);
void commit_stores();
void wait_stores_read(int pending);
void fence_for_copies();

uint32_t address_in_block(uint32_t address, uint32_t rank);
void store_remote(uint32_t address, const void* value, uint32_t bytes);
void store_counted(uint32_t address, const void* value, uint32_t bytes, uint32_t barrier);
void load_remote(uint32_t address, void* value, uint32_t bytes);

void load_shared(uint32_t address, void* value, uint32_t bytes);
void load_matrix(uint32_t address, uint32_t (&fragment)[4]);
void store_matrix(uint32_t address, const uint32_t (&fragment)[4]);
/// Their columns as rows.
void load_transposed(uint32_t address, uint32_t (&fragment)[4]);
void store_transposed(uint32_t address, const uint32_t* fragment, int matrices);

enum class MatrixType { kHalf, kBFloat16, kTf32 };
/// mma.sync: sums += left * right, 16 x 8 x 16, of kTf32 16 x 8 x 8.
void multiply_by_warp(MatrixType type, float (&sums)[4], const uint32_t (&left)[4], uint32_t right0,
                      uint32_t right1);

void fence_sums();
/// Starts sums += left * right of a warpgroup; `left` in registers or by its descriptor, `right` with its
/// depth along rows or across them.
void multiply(bool half, int columns, float* sums, const uint32_t* left_registers, uint64_t left,
              uint64_t right, bool across = false);
void commit_products();
void wait_products(int pending);

}  // namespace hone::device::cuda::emulator
