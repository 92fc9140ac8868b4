// Implicit GEMM kernels for bfloat16 elements, window loads, small tiles.
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm_kernels.cuh"

namespace hone::device::cuda {

HONE_SMALL_TILES(kBFloat16WindowSmall, __nv_bfloat16, WindowPixels);

}  // namespace hone::device::cuda
