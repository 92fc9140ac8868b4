// Kernels of convolutions with a global pool behind them, for bfloat16 elements.
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_pooled.cuh"

namespace hone::device::cuda {

const PooledTable kBFloat16Pooled = pooled_table<__nv_bfloat16>();

}  // namespace hone::device::cuda
