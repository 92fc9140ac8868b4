// Implicit GEMM kernels for float elements, window loads.
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm_kernels.cuh"

namespace hone::device::cuda {

HONE_WIDE_TILES(kFloatWindow, float, WindowPixels);

}  // namespace hone::device::cuda
