// Filters of a bottleneck, [filters][taps][channels], in the order in which its kernel takes them.
#pragma once

#include <vector>

#include "device/cuda/plugin/kernels/cluster_bottleneck.hpp"

namespace hone::device::cuda {

/// `place(filter, tap, channel)` of each, where blocks share the filters.
template <class Number, class Place>
std::vector<Number> arranged(const Bottleneck& size, const std::vector<Number>& filters, int64_t taps,
                             int64_t channels, const Place& place) {
  if (size.channels == Bottleneck::kChannels) return filters;
  std::vector<Number> result(filters.size());
  for (size_t i = 0; i < result.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    result[place(at / channels / taps, at / channels % taps, at % channels)] = filters[i];
  }
  return result;
}

template <class Number>
std::vector<Number> arranged_window(const Bottleneck& size, const std::vector<Number>& filters) {
  return arranged(size, filters, 9, size.channels, [&](int64_t k, int64_t tap, int64_t c) {
    return ClusterBottleneck::window_index(size.channels, k, tap, c);
  });
}

template <class Number>
std::vector<Number> arranged_expand(const Bottleneck& size, const std::vector<Number>& filters) {
  return arranged(size, filters, 1, size.channels, [&](int64_t k, int64_t, int64_t c) {
    return ClusterBottleneck::expand_index(size.channels, k, c);
  });
}

template <class Number>
std::vector<Number> arranged_next(const Bottleneck& size, const std::vector<Number>& filters) {
  return arranged(size, filters, 1, size.wide(), [&](int64_t k, int64_t, int64_t c) {
    return ClusterBottleneck::next_index(size.channels, k, c);
  });
}

}  // namespace hone::device::cuda
