// Kernels of bytes: results of half, an addition.
#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm_kernels.cuh"

namespace hone::device::cuda {

const WarpgroupTable kByteHalfAdd = byte_table<__half, ByteFunction::kAdd>();

}  // namespace hone::device::cuda
