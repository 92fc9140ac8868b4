// See gpu.hpp.
#include "device/cuda/plugin/gpu.hpp"

namespace hone::device::cuda {

void Gpu::evict_l2() {
  const std::lock_guard lock(l2_mutex_);
  if (l2_buffer_.size() == 0) l2_buffer_ = DeviceBytes(memory_, 2 * properties_.l2_bytes);
  clear(l2_buffer_);
}

}  // namespace hone::device::cuda
