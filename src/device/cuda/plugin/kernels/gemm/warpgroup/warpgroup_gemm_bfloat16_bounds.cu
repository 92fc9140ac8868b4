// Kernels of streams of tiles for bfloat16 elements, kind bounds.
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_kernels.cuh"

namespace hone::device::cuda {

const WarpgroupTable kBFloat16Bounds = warpgroup_table<StreamKernels<__nv_bfloat16, StreamKind::kBounds>>();

}  // namespace hone::device::cuda
