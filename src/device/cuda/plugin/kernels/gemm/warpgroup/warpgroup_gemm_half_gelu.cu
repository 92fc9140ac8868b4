// Kernels of streams of tiles for half elements, kind gelu.
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_kernels.cuh"

namespace hone::device::cuda {

const WarpgroupTable kHalfGelu = warpgroup_table<StreamKernels<__half, StreamKind::kGelu>>();

}  // namespace hone::device::cuda
