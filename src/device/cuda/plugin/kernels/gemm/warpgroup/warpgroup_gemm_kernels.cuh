// Tables of kernels for all of kWarpgroupShapes, for the source files that compile one table each.
#pragma once

#include <utility>

#include "device/cuda/plugin/kernels/common/kernel_address.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_kernel.cuh"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_split.cuh"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_stream.cuh"

namespace hone::device::cuda {

template <class T>
struct BlockKernels {
  template <class TileT>
  static const void* of() {
    return kernel_address(&warpgroup_gemm<T, TileT>);
  }
};

template <class T, bool kSteps>
struct SplitKernels {
  template <class TileT>
  static const void* of() {
    if constexpr (warpgroup_shared_bytes({TileT::kM, TileT::kN, 2, 2}, false) > kMostSharedBytes) {
      return nullptr;
    } else {
      return kernel_address(&warpgroup_gemm_split<T, TileT, kSteps>);
    }
  }
};

template <class T, StreamKind kKind>
struct StreamKernels {
  template <class TileT>
  static const void* of() {
    return kernel_address(&warpgroup_gemm_stream<T, TileT, kKind>);
  }
};

/// The kernels for sums of convolutions.
template <class Kernels>
struct SumsOf {
  template <class TileT>
  static const void* of() {
    return Kernels::template of<SumTile<TileT>>();
  }
};

template <class Kernels, size_t... kShape>
WarpgroupTable warpgroup_table(std::index_sequence<kShape...>) {
  return {Kernels::template of<WarpgroupTile<kWarpgroupShapes[kShape].tile_m, kWarpgroupShapes[kShape].tile_n,
                                             kWarpgroupShapes[kShape].groups>>()...};
}

template <class Kernels>
WarpgroupTable warpgroup_table() {
  return warpgroup_table<Kernels>(std::make_index_sequence<std::size(kWarpgroupShapes)>());
}

}  // namespace hone::device::cuda
