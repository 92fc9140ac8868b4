// Kernels of streams of tiles for half elements, sums of convolutions.
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_kernels.cuh"

namespace hone::device::cuda {

const WarpgroupTable kHalfSum = warpgroup_table<SumsOf<StreamKernels<__half, StreamKind::kBounds>>>();

}  // namespace hone::device::cuda
