// Kernels of bytes: results of half, bounds.
#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm_kernels.cuh"

namespace hone::device::cuda {

const WarpgroupTable kByteHalfBounds = byte_table<__half, ByteFunction::kBounds>();

}  // namespace hone::device::cuda
