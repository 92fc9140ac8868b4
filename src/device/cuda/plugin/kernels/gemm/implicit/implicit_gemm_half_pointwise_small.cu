// Implicit GEMM kernels for half elements, pointwise loads, small tiles.
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm_kernels.cuh"

namespace hone::device::cuda {

HONE_SMALL_TILES(kHalfPointwiseSmall, __half, PointwisePixels);

}  // namespace hone::device::cuda
