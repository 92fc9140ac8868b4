// The list of compiled tiles, for the source files that compile one part of it each.
#pragma once

#include "device/cuda/plugin/kernels/common/kernel_address.hpp"
#include "device/cuda/plugin/kernels/gemm/resident/resident_gemm_kernel.cuh"

namespace hone::device::cuda {

/// The kernel for the tile at index kShape of kResidentShapes.
template <class T, class Tile, int kShape>
ResidentKernel resident_kernel() {
  constexpr ResidentShape kS = kResidentShapes[kShape];
  using TileT = ResidentTile<kS.tile_m, kS.tile_n, kS.slices, kS.warps_m, kS.warps_n>;
  return {TileT::kM, TileT::kN, TileT::kSlices, TileT::kThreads,
          kernel_address(&resident_gemm<T, TileT, Tile>)};
}

}  // namespace hone::device::cuda

#define HONE_RESIDENT_TILES(name, T, Tile)                      \
  const ResidentKernel name[] = {resident_kernel<T, Tile, 0>(), \
                                 resident_kernel<T, Tile, 1>(), \
                                 resident_kernel<T, Tile, 2>(), \
                                 resident_kernel<T, Tile, 3>(), \
                                 resident_kernel<T, Tile, 4>(), \
                                 resident_kernel<T, Tile, 5>(), \
                                 resident_kernel<T, Tile, 6>(), \
                                 resident_kernel<T, Tile, 7>(), \
                                 resident_kernel<T, Tile, 8>(), \
                                 resident_kernel<T, Tile, 9>(), \
                                 {}}
