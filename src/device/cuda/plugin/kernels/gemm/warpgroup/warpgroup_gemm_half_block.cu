// Warpgroup GEMM kernels for half elements.
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_kernels.cuh"

namespace hone::device::cuda {

const WarpgroupTable kHalfBlock = warpgroup_table<BlockKernels<__half>>();

}  // namespace hone::device::cuda
