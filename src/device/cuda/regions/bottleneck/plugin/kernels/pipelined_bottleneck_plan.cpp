// See pipelined_bottleneck.hpp.
#include "device/cuda/plugin/kernels/common/wgmma_operands.cuh"
#include "device/cuda/regions/bottleneck/plugin/kernels/pipelined_bottleneck.hpp"

namespace hone::device::cuda {
namespace {

size_t place(int64_t step, int64_t filter, int64_t channel) {
  return static_cast<size_t>(step) * ptx::kLeftElements + ptx::left_place(filter % 64, channel % 16);
}

}  // namespace

size_t PipelinedBottleneck::window_index(int64_t filter, int64_t tap, int64_t channel) {
  return place(tap * 4 + channel / 16, filter, channel);
}

size_t PipelinedBottleneck::expand_index(int64_t filter, int64_t channel) {
  return place(filter / 64 * (Bottleneck::kChannels / 16) + channel / 16, filter, channel);
}

size_t PipelinedBottleneck::next_index(int64_t filter, int64_t channel) {
  return place(filter / 64 * (Bottleneck::kWide / 16) + channel / 16, filter, channel);
}

Refusal pipelined_bottleneck_refusal(const Bottleneck& size, const DeviceProperties& device) {
  if (size.channels != Bottleneck::kChannels) return std::to_string(size.channels) + " channels, not 64";
  if (Refusal reason = bottleneck_refusal(size, device)) return reason;
  if (PipelinedBottleneck::tiles(size) > Bottleneck::kMostTiles) return "the image is too large";
  return {};
}

}  // namespace hone::device::cuda
