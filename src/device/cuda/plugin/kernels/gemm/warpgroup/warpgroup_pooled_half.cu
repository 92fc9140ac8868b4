// Kernels of convolutions with a global pool behind them, for half elements.
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_pooled.cuh"

namespace hone::device::cuda {

const PooledTable kHalfPooled = pooled_table<__half>();

}  // namespace hone::device::cuda
