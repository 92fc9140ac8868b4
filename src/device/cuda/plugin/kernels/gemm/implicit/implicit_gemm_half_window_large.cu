// Implicit GEMM kernels for half elements, window loads, large tiles.
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm_kernels.cuh"

namespace hone::device::cuda {

HONE_LARGE_TILES(kHalfWindowLarge, __half, WindowPixels);

}  // namespace hone::device::cuda
