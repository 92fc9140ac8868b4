// Memory over time: how much was allocated, when the peak was, and what was alive then.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/intervals.hpp"
#include "base/json.hpp"

namespace hone::analysis {

/// Allocations of one operator that were alive at the peak.
struct MemoryOwner {
  std::string name;  ///< the operator around the allocation, else the API or allocator, else "unknown"
  int64_t bytes = 0;
  int64_t allocations = 0;
};

struct MemoryPoint {
  Time time = 0;
  int64_t allocated = 0;  ///< bytes
  int64_t reserved = trace::kNone;
};

/// Returns nothing for trace::kNone.
inline std::optional<int64_t> known_bytes(int64_t bytes) {
  return bytes < 0 ? std::nullopt : std::optional(bytes);
}

struct DeviceMemory {
  int32_t device = 0;  ///< -1 for the host
  int64_t allocations = 0;
  int64_t frees = 0;
  bool by_allocator =
      false;  ///< totals are those that the allocator reported; else sums of the recorded events
  /// True if allocations and frees can be joined. Files of 2021 have no addresses: it is then unknown which
  /// blocks were alive, and totals are relative to the lowest point.
  bool addressed = true;
  Time peak_time = 0;
  int64_t peak = 0;  ///< bytes
  int64_t reserved_peak = trace::kNone;
  int64_t live_at_end = 0;    ///< memory that was allocated in the trace and is still alive, bytes
  int64_t unknown_frees = 0;  ///< frees of memory that was allocated before the recording began
  /// Bytes at the peak that the allocator counted in addition to the allocations in the trace.
  int64_t older_at_peak = 0;
  std::vector<MemoryOwner> at_peak;  ///< largest first
  std::vector<MemoryPoint> curve;    ///< the highest value in each of up to 512 equal parts of the window
};

struct MemoryTimeline {
  Span window;
  std::vector<DeviceMemory> devices;  ///< by id, the host first
};

/// Peak and curve of the window; earlier allocations are replayed from the start of the trace.
MemoryTimeline follow_memory(const trace::Trace& trace, Span window);

Json to_json(const MemoryTimeline& timeline);

}  // namespace hone::analysis
