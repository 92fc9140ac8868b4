// Resident GEMM kernels for bfloat16 elements, windows.
#include "device/cuda/plugin/kernels/gemm/resident/resident_gemm_kernels.cuh"

namespace hone::device::cuda {

HONE_RESIDENT_TILES(kResidentBFloat16Window, __nv_bfloat16, WindowTile);

}  // namespace hone::device::cuda
