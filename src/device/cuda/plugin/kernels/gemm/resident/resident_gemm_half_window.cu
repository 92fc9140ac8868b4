// Resident GEMM kernels for half elements, windows.
#include "device/cuda/plugin/kernels/gemm/resident/resident_gemm_kernels.cuh"

namespace hone::device::cuda {

HONE_RESIDENT_TILES(kResidentHalfWindow, __half, WindowTile);

}  // namespace hone::device::cuda
