// Kernels of streams of tiles for half elements, kind swish.
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_kernels.cuh"

namespace hone::device::cuda {

const WarpgroupTable kHalfSwish = warpgroup_table<StreamKernels<__half, StreamKind::kSwish>>();

}  // namespace hone::device::cuda
