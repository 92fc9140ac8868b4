// Kernels of streams of tiles for bfloat16 elements, kind gelu.
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_kernels.cuh"

namespace hone::device::cuda {

const WarpgroupTable kBFloat16Gelu = warpgroup_table<StreamKernels<__nv_bfloat16, StreamKind::kGelu>>();

}  // namespace hone::device::cuda
