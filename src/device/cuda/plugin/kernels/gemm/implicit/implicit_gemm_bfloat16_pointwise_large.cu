// Implicit GEMM kernels for bfloat16 elements, pointwise loads, large tiles.
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm_kernels.cuh"

namespace hone::device::cuda {

HONE_LARGE_TILES(kBFloat16PointwiseLarge, __nv_bfloat16, PointwisePixels);

}  // namespace hone::device::cuda
