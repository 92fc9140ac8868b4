// Kernels of warp_gemm.hpp for half.
#include "device/cuda/plugin/kernels/gemm/warp/warp_gemm_kernel.cuh"

namespace hone::device::cuda {

const void* half_warp_gemm(size_t shape, StreamKind kind) { return warp_gemm_of<__half>(shape, kind); }

}  // namespace hone::device::cuda
