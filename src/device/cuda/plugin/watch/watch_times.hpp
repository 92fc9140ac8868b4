// Converts the GPU's and the host's readings to times on the host's clock. It does not use CUDA, so it is
// tested without a GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "base/device_record.hpp"

namespace hone::device::cuda {

/// Both clocks at one moment, in nanoseconds.
struct ClockReading {
  int64_t gpu_ns = 0;
  int64_t host_ns = 0;
  int64_t uncertainty_ns = 0;  ///< of host_ns
};

/// The host's clock when the GPU's clock had this value, by a line through both readings. If these are less
/// than 20 ms apart, only the first one is used, because their errors would then dominate the difference of
/// the clocks' rates.
int64_t host_time(const ClockReading& first, const ClockReading& last, int64_t gpu_ns);

/// Adjusts kernels in the order in which they ran: a kernel that started before the previous one had ended
/// counts from that end on, so that the times add up. Returns the total time by which they began earlier.
int64_t put_in_line(std::vector<base::DeviceWork>& kernels);

/// Places copies of one direction that were submitted from `called_ns` on and waited for until `waited_ns`.
/// Half of `latency_ns` (the time of a copy of a few bytes) passes before the first copy and half after the
/// last. Within the rest, the copies follow each other, each as long as its share of the bytes.
void place_copies(std::vector<base::DeviceWork>& copies, int64_t called_ns, int64_t waited_ns,
                  int64_t latency_ns);

}  // namespace hone::device::cuda
