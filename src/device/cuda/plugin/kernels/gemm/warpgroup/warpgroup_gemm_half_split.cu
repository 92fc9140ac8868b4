// Kernels of split depths for half elements, bounds and additions.
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_kernels.cuh"

namespace hone::device::cuda {

const WarpgroupTable kHalfSplit = warpgroup_table<SplitKernels<__half, false>>();

}  // namespace hone::device::cuda
