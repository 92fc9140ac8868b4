// Kernels of bytes: results of bytes, bounds.
#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm_kernels.cuh"

namespace hone::device::cuda {

const WarpgroupTable kByteBounds = byte_table<Bytes, ByteFunction::kBounds>();

}  // namespace hone::device::cuda
