// Kernels of bytes: results of float, bounds.
#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm_kernels.cuh"

namespace hone::device::cuda {

const WarpgroupTable kByteFloatBounds = byte_table<float, ByteFunction::kBounds>();

}  // namespace hone::device::cuda
