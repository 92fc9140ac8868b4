// See attention.hpp: what needs no compiler of CUDA's.
#include <fmt/format.h>

#include "device/cuda/plugin/kernels/layers/attention.hpp"

namespace hone::device::cuda {

int64_t AttentionSize::heads() const {
  int64_t count = 1;
  for (int i = 0; i < loops; ++i) count *= lengths[i];
  return count;
}

Refusal attention_refusal(const AttentionSize& size, const DeviceProperties& device) {
  if (!device.async_copies) return "it needs compute capability 8.0";
  if (size.depth < 1 || size.width < 1 || size.depth > AttentionSize::kMostDepth ||
      size.width > AttentionSize::kMostDepth)
    return fmt::format("heads of {} and {} columns, {} at most", size.depth, size.width,
                       AttentionSize::kMostDepth);
  constexpr int64_t kMost = int64_t{1} << 30;
  if (size.rows > kMost || size.keys > kMost || size.heads() > kMost / 64 ||
      size.heads() * ((size.rows + 63) / 64) > kMost)
    return "it has too many rows";
  if (size.keys < 1) return "it has no keys";
  return {};
}

}  // namespace hone::device::cuda
