// Kernels of bytes: results of bytes, GELU.
#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm_kernels.cuh"

namespace hone::device::cuda {

const WarpgroupTable kByteGelu = byte_table<Bytes, ByteFunction::kGelu>();

}  // namespace hone::device::cuda
