// Kernels of bytes: results of bytes, bounds, stages of 64 channels.
#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm_kernels.cuh"

namespace hone::device::cuda {

const WarpgroupTable kByteBoundsNarrow = byte_table<Bytes, ByteFunction::kBounds, kNarrowRowBytes>();

}  // namespace hone::device::cuda
