// See watch_times.hpp.
#include "device/cuda/plugin/watch/watch_times.hpp"

#include <algorithm>

namespace hone::device::cuda {

using base::DeviceWork;

int64_t host_time(const ClockReading& first, const ClockReading& last, int64_t gpu_ns) {
  constexpr int64_t kShortest = 20'000'000;
  const int64_t since = gpu_ns - first.gpu_ns;
  const int64_t span = last.gpu_ns - first.gpu_ns;
  if (span < kShortest) return first.host_ns + since;
  const double rate = static_cast<double>(last.host_ns - first.host_ns) / static_cast<double>(span);
  return first.host_ns + static_cast<int64_t>(static_cast<double>(since) * rate);
}

int64_t put_in_line(std::vector<DeviceWork>& kernels) {
  int64_t early = 0;
  int64_t ahead = 0;
  for (DeviceWork& kernel : kernels) {
    const int64_t began = kernel.start_ns;
    kernel.start_ns = std::max(began, ahead);
    kernel.end_ns = std::max(kernel.end_ns, kernel.start_ns);
    early += kernel.start_ns - began;
    ahead = kernel.end_ns;
  }
  return early;
}

void place_copies(std::vector<DeviceWork>& copies, int64_t called_ns, int64_t waited_ns, int64_t latency_ns) {
  const int64_t span = std::max<int64_t>(waited_ns - called_ns - latency_ns, 1);
  int64_t bytes = 0;
  for (const DeviceWork& copy : copies) bytes += copy.bytes;
  int64_t at = waited_ns - latency_ns / 2 - span;
  for (DeviceWork& copy : copies) {
    copy.start_ns = at;
    at += static_cast<int64_t>(static_cast<double>(span) * static_cast<double>(copy.bytes) /
                               static_cast<double>(bytes));
    copy.end_ns = at;
  }
}

}  // namespace hone::device::cuda
