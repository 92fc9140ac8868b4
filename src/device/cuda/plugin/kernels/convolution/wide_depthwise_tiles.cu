// Kernels of depthwise_tiles() for windows of 7 x 7, which take long to compile.
#include "device/cuda/plugin/kernels/common/kernel_address.hpp"
#include "device/cuda/plugin/kernels/convolution/depthwise_tiles_kernel.cuh"

namespace hone::device::cuda {
namespace {

template <class T, StreamKind kKind>
const void* kernel_of(int run) {
  return run == 4 ? kernel_address(&depthwise_tiles_kernel<T, 7, 1, 4, kKind>)
                  : kernel_address(&depthwise_tiles_kernel<T, 7, 1, 7, kKind>);
}

template <class T>
const void* kernel_of(StreamKind kind, int run) {
  if (kind == StreamKind::kSwish) return kernel_of<T, StreamKind::kSwish>(run);
  return kind == StreamKind::kHardSwish ? kernel_of<T, StreamKind::kHardSwish>(run)
                                        : kernel_of<T, StreamKind::kBounds>(run);
}

}  // namespace

const void* wide_depthwise_tiles_kernel(bool is_half, StreamKind kind, int run) {
  return is_half ? kernel_of<__half>(kind, run) : kernel_of<__nv_bfloat16>(kind, run);
}

}  // namespace hone::device::cuda
