// Kernels of streams of tiles for half elements, kind bounds.
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_kernels.cuh"

namespace hone::device::cuda {

const WarpgroupTable kHalfBounds = warpgroup_table<StreamKernels<__half, StreamKind::kBounds>>();

}  // namespace hone::device::cuda
