// Kernels of convolutions from slabs, for half elements.
#include "device/cuda/plugin/kernels/warpgroup_slab_kernel.cuh"

namespace hone::device::cuda {

const SlabTable kHalfSlab = slab_table<__half>();

}  // namespace hone::device::cuda
