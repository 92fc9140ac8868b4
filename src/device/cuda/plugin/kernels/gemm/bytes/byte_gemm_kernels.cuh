// Tables of kernels of bytes, for the source files that compile one table each.
#pragma once

#include <utility>

#include "device/cuda/plugin/kernels/common/kernel_address.hpp"
#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm_stream.cuh"

namespace hone::device::cuda {

template <size_t kShape>
using TileOfShape = WarpgroupTile<kWarpgroupShapes[kShape].tile_m, kWarpgroupShapes[kShape].tile_n,
                                  kWarpgroupShapes[kShape].groups>;

template <class Out, ByteFunction kFunction, int kRowBytes, size_t... kShape>
WarpgroupTable byte_table(std::index_sequence<kShape...>) {
  return {kernel_address(&byte_gemm_stream<Out, kFunction, ByteTile<TileOfShape<kShape>, kRowBytes>>)...};
}

template <class Out, ByteFunction kFunction, int kRowBytes = kStageRowBytes>
WarpgroupTable byte_table() {
  return byte_table<Out, kFunction, kRowBytes>(std::make_index_sequence<std::size(kWarpgroupShapes)>());
}

template <int kFewestFilters, class TileT>
const void* byte_sum_kernel() {
  if constexpr (TileT::kN < kFewestFilters) {
    return nullptr;
  } else {
    return kernel_address(&byte_gemm_stream<Bytes, ByteFunction::kAdd, ByteSumTile<TileT>>);
  }
}

template <int kFewestFilters, size_t... kShape>
WarpgroupTable byte_sum_table(std::index_sequence<kShape...>) {
  return {byte_sum_kernel<kFewestFilters, TileOfShape<kShape>>()...};
}

/// A template like all tables here, so that only the source file with this table compiles its kernels.
template <int kFewestFilters>
WarpgroupTable byte_sum_table() {
  return byte_sum_table<kFewestFilters>(std::make_index_sequence<std::size(kWarpgroupShapes)>());
}

}  // namespace hone::device::cuda
