// Kernels of split depths for bfloat16 elements, any epilogue.
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_kernels.cuh"

namespace hone::device::cuda {

const WarpgroupTable kBFloat16SplitSteps = warpgroup_table<SplitKernels<__nv_bfloat16, true>>();

}  // namespace hone::device::cuda
