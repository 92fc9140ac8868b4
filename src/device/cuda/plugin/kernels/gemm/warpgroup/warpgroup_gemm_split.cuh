// The warpgroup GEMM with its depth split over a cluster. One block computes its part of the depth of one
// tile of y, and finishes its share of the tile's rows.
#pragma once

#include "device/cuda/plugin/kernels/gemm/warpgroup/cluster_sums.cuh"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_kernel.cuh"

namespace hone::device::cuda {

/// kSteps is that of ShareFinish.
template <class T, class TileT, bool kSteps>
__global__ void __launch_bounds__(WithCopier<TileT>::kThreads)
    warpgroup_gemm_split(const __grid_constant__ typename TileT::Params p, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  extern __shared__ __align__(1024) unsigned char memory[];
  if (p.next_waits) ptx::allow_next_kernel();
  const GemmBlock<TileT> block(p, memory);
  block.begin();
  if (static_cast<int>(threadIdx.x) == GemmBlock<TileT>::kCopier)
    ptx::expect_copies(block.received, TileT::kM * TileT::kN * 4);
  ptx::arrive_cluster();  // other blocks may now write to this block's memory
  block.copy([] { ptx::wait_cluster(); });
  const BlockPlace& place = block.place;
  const int parts = ptx::in_register(p.split_k);
  unsigned char* const receive = memory + p.stages * TileT::kStageBytes;
  const SumExchange<T, TileT> exchange(p, place.part, ptx::shared_address(receive), block.received);
  const ShareFinish<T, TileT, kSteps> finish(p.epilogue, p.stream,
                                             place.tile_m * TileT::kM + place.part * (TileT::kM / parts),
                                             place.tile_n * TileT::kN, block.prefetched);
  if (block.multiplies()) ptx::wait_cluster();
  ptx::wait_for_previous_kernel();
  if (block.multiplies()) finish.prefetch(parts);
  ptx::commit_copies();
  WarpgroupProduct<T, TileT> product{};
  RingPlace at;
  if (block.multiplies()) product.run(block.ring, at, block.depth.count);
  ptx::wait_copies<0>();
  if (block.multiplies()) exchange.send(product);
  exchange.wait();
  if (block.multiplies()) finish.run(parts, reinterpret_cast<const float*>(receive));
}

}  // namespace hone::device::cuda
