// Kernels of split depths for bfloat16 elements, bounds and additions.
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_kernels.cuh"

namespace hone::device::cuda {

const WarpgroupTable kBFloat16Split = warpgroup_table<SplitKernels<__nv_bfloat16, false>>();

}  // namespace hone::device::cuda
