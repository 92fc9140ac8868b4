// Implicit GEMM kernels for tf32 elements, window loads.
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm_kernels.cuh"

namespace hone::device::cuda {

HONE_WIDE_TILES(kTf32Window, ptx::Tf32, WindowPixels);

}  // namespace hone::device::cuda
