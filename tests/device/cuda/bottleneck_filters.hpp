// Filters of a bottleneck, [filters][taps][channels], in the order in which its kernels take them.
#pragma once

#include <vector>

#include "device/cuda/regions/bottleneck/plugin/kernels/cluster_bottleneck.hpp"
#include "device/cuda/regions/bottleneck/plugin/kernels/pipelined_bottleneck.hpp"

namespace hone::device::cuda {

/// bottleneck(), by one block or a cluster as the channels say, or pipelined_bottleneck().
enum class BottleneckWay { kUsual, kPipelined };

/// `place(filter, tap, channel)` of each.
template <class Number, class Place>
std::vector<Number> arranged(const std::vector<Number>& filters, int64_t taps, int64_t channels,
                             const Place& place) {
  std::vector<Number> result(filters.size());
  for (size_t i = 0; i < result.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    result[place(at / channels / taps, at / channels % taps, at % channels)] = filters[i];
  }
  return result;
}

template <class Number>
std::vector<Number> arranged_window(const Bottleneck& size, BottleneckWay way,
                                    const std::vector<Number>& filters) {
  if (way == BottleneckWay::kPipelined)
    return arranged(filters, 9, size.channels, &PipelinedBottleneck::window_index);
  if (size.channels == Bottleneck::kChannels) return filters;
  return arranged(filters, 9, size.channels, [&](int64_t k, int64_t tap, int64_t c) {
    return ClusterBottleneck::window_index(size.channels, k, tap, c);
  });
}

template <class Number>
std::vector<Number> arranged_expand(const Bottleneck& size, BottleneckWay way,
                                    const std::vector<Number>& filters) {
  if (way == BottleneckWay::kUsual && size.channels == Bottleneck::kChannels) return filters;
  return arranged(filters, 1, size.channels, [&](int64_t k, int64_t, int64_t c) {
    return way == BottleneckWay::kPipelined ? PipelinedBottleneck::expand_index(k, c)
                                            : ClusterBottleneck::expand_index(size.channels, k, c);
  });
}

template <class Number>
std::vector<Number> arranged_next(const Bottleneck& size, BottleneckWay way,
                                  const std::vector<Number>& filters) {
  const bool kept = way == BottleneckWay::kPipelined ? !PipelinedBottleneck::next_in_registers(size.next)
                                                     : size.channels == Bottleneck::kChannels;
  if (kept) return filters;
  return arranged(filters, 1, size.wide(), [&](int64_t k, int64_t, int64_t c) {
    return way == BottleneckWay::kPipelined ? PipelinedBottleneck::next_index(k, c)
                                            : ClusterBottleneck::next_index(size.channels, k, c);
  });
}

/// By the kernel of that way.
inline cudaError_t launch_bottleneck(BottleneckWay way, const BottleneckArgs& args, FloatType type,
                                     const Bottleneck& size, const LaunchOptions& options) {
  return way == BottleneckWay::kPipelined ? pipelined_bottleneck(args, type, size, options)
                                          : bottleneck(args, type, size, options);
}

}  // namespace hone::device::cuda
