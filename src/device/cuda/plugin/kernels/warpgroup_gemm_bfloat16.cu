// Warpgroup GEMM kernels for bfloat16 elements.
#include "device/cuda/plugin/kernels/warpgroup_gemm_kernels.cuh"

namespace hone::device::cuda {

HONE_WARPGROUP_TILES(kBFloat16Warpgroup, __nv_bfloat16);

}  // namespace hone::device::cuda
