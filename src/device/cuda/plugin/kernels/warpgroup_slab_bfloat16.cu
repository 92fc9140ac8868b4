// Kernels of convolutions from slabs, for bfloat16 elements.
#include "device/cuda/plugin/kernels/warpgroup_slab_kernel.cuh"

namespace hone::device::cuda {

const SlabTable kBFloat16Slab = slab_table<__nv_bfloat16>();

}  // namespace hone::device::cuda
