// Implicit GEMM kernels for half elements, pointwise loads, large tiles.
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm_kernels.cuh"

namespace hone::device::cuda {

HONE_LARGE_TILES(kHalfPointwiseLarge, __half, PointwisePixels);

}  // namespace hone::device::cuda
