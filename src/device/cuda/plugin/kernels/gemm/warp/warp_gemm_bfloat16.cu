// Kernels of warp_gemm.hpp for bfloat16.
#include "device/cuda/plugin/kernels/gemm/warp/warp_gemm_kernel.cuh"

namespace hone::device::cuda {

const void* bfloat16_warp_gemm(size_t shape, StreamKind kind) {
  return warp_gemm_of<__nv_bfloat16>(shape, kind);
}

}  // namespace hone::device::cuda
