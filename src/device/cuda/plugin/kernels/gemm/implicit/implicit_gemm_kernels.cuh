// The list of compiled tiles, for the source files that compile one part of it each.
#pragma once

#include "device/cuda/plugin/kernels/common/kernel_address.hpp"
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm_kernel.cuh"

namespace hone::device::cuda {

template <class T, template <class, class> class Pixels, class TileT>
GemmKernel gemm_kernel() {
  return {TileT::kM, TileT::kN, TileT::kRowBytes / static_cast<int>(sizeof(T)), TileT::kThreads,
          kernel_address(&implicit_gemm<T, TileT, Pixels>)};
}

}  // namespace hone::device::cuda

/// Tiles of up to 64 x 64, for small batches. Warps divide a tile two by two where it can be halved.
#define HONE_SMALL_TILES(name, T, Pixels)                                       \
  const GemmKernel name[] = {gemm_kernel<T, Pixels, Tile<16, 64, 64, 1, 4>>(),  \
                             gemm_kernel<T, Pixels, Tile<16, 64, 128, 1, 4>>(), \
                             gemm_kernel<T, Pixels, Tile<32, 32, 32, 2, 2>>(),  \
                             gemm_kernel<T, Pixels, Tile<32, 32, 64, 2, 2>>(),  \
                             gemm_kernel<T, Pixels, Tile<32, 32, 128, 2, 2>>(), \
                             gemm_kernel<T, Pixels, Tile<32, 64, 64, 2, 2>>(),  \
                             gemm_kernel<T, Pixels, Tile<32, 64, 128, 2, 2>>(), \
                             gemm_kernel<T, Pixels, Tile<64, 32, 32, 2, 2>>(),  \
                             gemm_kernel<T, Pixels, Tile<64, 32, 64, 2, 2>>(),  \
                             gemm_kernel<T, Pixels, Tile<64, 32, 128, 2, 2>>(), \
                             {}}
/// Tiles for elements of four bytes.
#define HONE_WIDE_TILES(name, T, Pixels)                                         \
  const GemmKernel name[] = {gemm_kernel<T, Pixels, Tile<32, 32, 64, 2, 2>>(),   \
                             gemm_kernel<T, Pixels, Tile<32, 64, 64, 2, 2>>(),   \
                             gemm_kernel<T, Pixels, Tile<64, 32, 64, 2, 2>>(),   \
                             gemm_kernel<T, Pixels, Tile<64, 64, 32, 2, 2>>(),   \
                             gemm_kernel<T, Pixels, Tile<64, 64, 64, 2, 2>>(),   \
                             gemm_kernel<T, Pixels, Tile<64, 128, 64, 2, 2>>(),  \
                             gemm_kernel<T, Pixels, Tile<128, 64, 64, 2, 2>>(),  \
                             gemm_kernel<T, Pixels, Tile<128, 128, 32, 2, 4>>(), \
                             {}}
#define HONE_LARGE_TILES(name, T, Pixels)                                        \
  const GemmKernel name[] = {gemm_kernel<T, Pixels, Tile<64, 64, 32, 2, 2>>(),   \
                             gemm_kernel<T, Pixels, Tile<64, 64, 64, 2, 2>>(),   \
                             gemm_kernel<T, Pixels, Tile<64, 64, 128, 2, 2>>(),  \
                             gemm_kernel<T, Pixels, Tile<64, 128, 64, 2, 2>>(),  \
                             gemm_kernel<T, Pixels, Tile<128, 64, 32, 2, 2>>(),  \
                             gemm_kernel<T, Pixels, Tile<128, 64, 64, 2, 2>>(),  \
                             gemm_kernel<T, Pixels, Tile<128, 128, 32, 2, 4>>(), \
                             gemm_kernel<T, Pixels, Tile<128, 128, 64, 2, 4>>(), \
                             {}}
