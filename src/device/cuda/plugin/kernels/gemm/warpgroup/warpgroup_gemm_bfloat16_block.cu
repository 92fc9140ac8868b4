// Warpgroup GEMM kernels for bfloat16 elements.
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_kernels.cuh"

namespace hone::device::cuda {

const WarpgroupTable kBFloat16Block = warpgroup_table<BlockKernels<__nv_bfloat16>>();

}  // namespace hone::device::cuda
