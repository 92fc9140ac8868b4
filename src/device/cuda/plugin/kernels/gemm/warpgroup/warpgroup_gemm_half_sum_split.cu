// Kernels of split depths for half elements, sums of convolutions.
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_kernels.cuh"

namespace hone::device::cuda {

const WarpgroupTable kHalfSumSplit = warpgroup_table<SumsOf<SplitKernels<__half, false>>>();

}  // namespace hone::device::cuda
