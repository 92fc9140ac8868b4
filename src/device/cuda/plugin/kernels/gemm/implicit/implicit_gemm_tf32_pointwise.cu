// Implicit GEMM kernels for tf32 elements, pointwise loads.
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm_kernels.cuh"

namespace hone::device::cuda {

HONE_WIDE_TILES(kTf32Pointwise, ptx::Tf32, PointwisePixels);

}  // namespace hone::device::cuda
