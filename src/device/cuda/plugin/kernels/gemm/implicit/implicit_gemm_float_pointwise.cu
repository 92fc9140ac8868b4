// Implicit GEMM kernels for float elements, pointwise loads.
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm_kernels.cuh"

namespace hone::device::cuda {

HONE_WIDE_TILES(kFloatPointwise, float, PointwisePixels);

}  // namespace hone::device::cuda
