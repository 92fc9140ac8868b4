// Kernels of split depths for half elements, any epilogue.
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_kernels.cuh"

namespace hone::device::cuda {

const WarpgroupTable kHalfSplitSteps = warpgroup_table<SplitKernels<__half, true>>();

}  // namespace hone::device::cuda
