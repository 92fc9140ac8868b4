// The list of tiles that are compiled, for the source files that compile one element each.
#pragma once

#include "device/cuda/plugin/kernels/warpgroup_gemm_kernel.cuh"
#include "device/cuda/plugin/kernels/warpgroup_gemm_stream.cuh"

namespace hone::device::cuda {

template <class T, class TileT>
WarpgroupKernel warpgroup_kernel() {
  return {TileT::kM, TileT::kN, TileT::kGroups, reinterpret_cast<const void*>(&warpgroup_gemm<T, TileT>),
          reinterpret_cast<const void*>(&warpgroup_gemm_stream<T, TileT>)};
}

}  // namespace hone::device::cuda

/// Those of kWarpgroupShapes.
#define HONE_WARPGROUP_TILES(name, T)                                                                       \
  const WarpgroupKernel name[] = {                                                                          \
      warpgroup_kernel<T, WarpgroupTile<64, 32, 1>>(),   warpgroup_kernel<T, WarpgroupTile<64, 64, 1>>(),   \
      warpgroup_kernel<T, WarpgroupTile<64, 128, 1>>(),  warpgroup_kernel<T, WarpgroupTile<128, 32, 2>>(),  \
      warpgroup_kernel<T, WarpgroupTile<128, 64, 2>>(),  warpgroup_kernel<T, WarpgroupTile<128, 128, 2>>(), \
      warpgroup_kernel<T, WarpgroupTile<128, 256, 2>>(), warpgroup_kernel<T, WarpgroupTile<256, 64, 2>>(),  \
      warpgroup_kernel<T, WarpgroupTile<256, 128, 2>>(), {0, 0, 0, nullptr, nullptr}}
