// Kernels of streams of tiles for half elements, kind add.
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_kernels.cuh"

namespace hone::device::cuda {

const WarpgroupTable kHalfAdd = warpgroup_table<StreamKernels<__half, StreamKind::kAdd>>();

}  // namespace hone::device::cuda
