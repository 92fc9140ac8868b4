// Kernels of split depths for bfloat16 elements, sums of convolutions.
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_kernels.cuh"

namespace hone::device::cuda {

const WarpgroupTable kBFloat16SumSplit = warpgroup_table<SumsOf<SplitKernels<__nv_bfloat16, false>>>();

}  // namespace hone::device::cuda
