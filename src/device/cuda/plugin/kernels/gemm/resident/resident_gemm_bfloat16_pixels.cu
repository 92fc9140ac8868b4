// Resident GEMM kernels for bfloat16 elements, single pixels.
#include "device/cuda/plugin/kernels/gemm/resident/resident_gemm_kernels.cuh"

namespace hone::device::cuda {

HONE_RESIDENT_TILES(kResidentBFloat16Pixels, __nv_bfloat16, PixelTile);

}  // namespace hone::device::cuda
