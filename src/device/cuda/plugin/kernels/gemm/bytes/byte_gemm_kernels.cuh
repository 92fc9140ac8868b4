// Tables of kernels of bytes for the source files that compile one each.
#pragma once

#include <utility>

#include "device/cuda/plugin/kernels/common/kernel_address.hpp"
#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm_stream.cuh"

namespace hone::device::cuda {

template <class Out, ByteFunction kFunction, int kRowBytes, size_t... kShape>
WarpgroupTable byte_table(std::index_sequence<kShape...>) {
  return {
      kernel_address(&byte_gemm_stream<
                     Out, kFunction,
                     ByteTile<WarpgroupTile<kWarpgroupShapes[kShape].tile_m, kWarpgroupShapes[kShape].tile_n,
                                            kWarpgroupShapes[kShape].groups>,
                              kRowBytes>>)...};
}

template <class Out, ByteFunction kFunction, int kRowBytes = kStageRowBytes>
WarpgroupTable byte_table() {
  return byte_table<Out, kFunction, kRowBytes>(std::make_index_sequence<std::size(kWarpgroupShapes)>());
}

}  // namespace hone::device::cuda
