// Kernels of bytes: results of bytes, swish.
#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm_kernels.cuh"

namespace hone::device::cuda {

const WarpgroupTable kByteSwish = byte_table<Bytes, ByteFunction::kSwish>();

}  // namespace hone::device::cuda
