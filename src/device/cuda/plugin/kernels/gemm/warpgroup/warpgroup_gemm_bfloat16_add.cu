// Kernels of streams of tiles for bfloat16 elements, kind add.
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_kernels.cuh"

namespace hone::device::cuda {

const WarpgroupTable kBFloat16Add = warpgroup_table<StreamKernels<__nv_bfloat16, StreamKind::kAdd>>();

}  // namespace hone::device::cuda
