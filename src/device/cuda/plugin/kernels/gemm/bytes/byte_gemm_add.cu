// Kernels of bytes: results of bytes, two roundings or an addition.
#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm_kernels.cuh"

namespace hone::device::cuda {

const WarpgroupTable kByteAdd = byte_table<Bytes, ByteFunction::kAdd>();

}  // namespace hone::device::cuda
