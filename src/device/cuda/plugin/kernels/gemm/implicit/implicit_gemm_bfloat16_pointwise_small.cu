// Implicit GEMM kernels for bfloat16 elements, pointwise loads, small tiles.
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm_kernels.cuh"

namespace hone::device::cuda {

HONE_SMALL_TILES(kBFloat16PointwiseSmall, __nv_bfloat16, PointwisePixels);

}  // namespace hone::device::cuda
