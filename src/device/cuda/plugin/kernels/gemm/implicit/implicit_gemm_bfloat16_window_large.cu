// Implicit GEMM kernels for bfloat16 elements, window loads, large tiles.
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm_kernels.cuh"

namespace hone::device::cuda {

HONE_LARGE_TILES(kBFloat16WindowLarge, __nv_bfloat16, WindowPixels);

}  // namespace hone::device::cuda
