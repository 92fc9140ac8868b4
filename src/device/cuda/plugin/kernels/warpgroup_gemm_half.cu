// Warpgroup GEMM kernels for half elements.
#include "device/cuda/plugin/kernels/warpgroup_gemm_kernels.cuh"

namespace hone::device::cuda {

HONE_WARPGROUP_TILES(kHalfWarpgroup, __half);

}  // namespace hone::device::cuda
