// Converts the GPU's and the host's readings to times on the host's clock. No CUDA: tested without a GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "base/device_record.hpp"

namespace hone::device::cuda {

/// Both clocks at one moment, nanoseconds.
struct ClockReading {
  int64_t gpu_ns = 0;
  int64_t host_ns = 0;
  int64_t uncertainty_ns = 0;  ///< of host_ns
};

/// The host's clock when the GPU's stood there, by a line through both readings; where they are less than 20
/// ms apart, only by the first one, since their errors would say more of the clocks' rates than they do.
int64_t host_time(const ClockReading& first, const ClockReading& last, int64_t gpu_ns);

/// Kernels in the order in which they ran: one that was let in before the one ahead had ended counts from
/// that end on, so that the times add up. Returns by how much, in all, they had begun earlier.
int64_t put_in_line(std::vector<base::DeviceWork>& kernels);

/// Copies of one direction that were handed over from `called_ns` on and waited for until `waited_ns`: one
/// after the other, each for as long as its share of the bytes, in that time less `latency_ns`, which a copy
/// of a few bytes takes, half of it on either side.
void place_copies(std::vector<base::DeviceWork>& copies, int64_t called_ns, int64_t waited_ns,
                  int64_t latency_ns);

}  // namespace hone::device::cuda
