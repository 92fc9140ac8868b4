// Resident GEMM kernels for half elements, single pixels.
#include "device/cuda/plugin/kernels/gemm/resident/resident_gemm_kernels.cuh"

namespace hone::device::cuda {

HONE_RESIDENT_TILES(kResidentHalfPixels, __half, PixelTile);

}  // namespace hone::device::cuda
