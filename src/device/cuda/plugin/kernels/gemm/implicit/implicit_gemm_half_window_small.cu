// Implicit GEMM kernels for half elements, window loads, small tiles.
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm_kernels.cuh"

namespace hone::device::cuda {

HONE_SMALL_TILES(kHalfWindowSmall, __half, WindowPixels);

}  // namespace hone::device::cuda
