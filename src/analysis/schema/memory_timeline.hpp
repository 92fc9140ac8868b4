// Fields of memory over time.
#pragma once

#include "analysis/questions/memory_timeline.hpp"
#include "analysis/schema/times.hpp"

namespace hone::base {

template <>
struct Description<analysis::MemoryOwner> {
  using Owner = analysis::MemoryOwner;
  static constexpr std::string_view kName = "MemoryOwner";
  static constexpr auto kFields = std::tuple{
      Field{"name", &Owner::name, "Operator around the allocation, else the API or the allocator"},
      Field{"bytes", &Owner::bytes, "Bytes it held", unit::kBytes, origin::kRecorded},
      Field{"allocations", &Owner::allocations, "Allocations it held", unit::kCount, origin::kRecorded}};
};

template <>
struct Description<analysis::MemoryPoint> {
  using Point = analysis::MemoryPoint;
  static constexpr std::string_view kName = "MemoryPoint";
  static constexpr auto kFields =
      std::tuple{Field{"time_ns", &Point::time, "When", unit::kNs, origin::kMeasured},
                 Field{"allocated_bytes", &Point::allocated, "Bytes in use", unit::kBytes, origin::kRecorded},
                 Field{"reserved_bytes", [](const Point& p) { return analysis::known_bytes(p.reserved); },
                       "Bytes that the allocator held, in use or not", unit::kBytes, origin::kRecorded}};
};

template <>
struct Description<analysis::DeviceMemory> {
  using Memory = analysis::DeviceMemory;
  static constexpr std::string_view kName = "DeviceMemory";
  static constexpr auto kFields = std::tuple{
      Field{"device", &Memory::device, "Number of the GPU; -1 is the host"},
      Field{"allocations", &Memory::allocations, "Allocations in the window", unit::kCount,
            origin::kRecorded},
      Field{"frees", &Memory::frees, "Frees in the window", unit::kCount, origin::kRecorded},
      Field{"totals_by_allocator", &Memory::by_allocator,
            "Totals are those the allocator reported; else sums of the events seen"},
      Field{"addressed", &Memory::addressed, "Allocations and frees can be joined"},
      Field{"peak_time_ns", &Memory::peak_time, "When most was in use", unit::kNs, origin::kMeasured},
      Field{"peak_bytes", &Memory::peak, "The most that was in use", unit::kBytes, origin::kRecorded},
      Field{"reserved_peak_bytes", [](const Memory& m) { return analysis::known_bytes(m.reserved_peak); },
            "The most that the allocator held", unit::kBytes, origin::kRecorded},
      Field{"live_at_end_bytes", &Memory::live_at_end, "Allocated in the window and not freed in it",
            unit::kBytes, origin::kRecorded},
      Field{"unknown_frees", &Memory::unknown_frees, "Frees of memory that was allocated before the window",
            unit::kCount, origin::kRecorded},
      Field{"older_at_peak_bytes", &Memory::older_at_peak,
            "At the peak: in use by the allocator's count beyond the allocations seen", unit::kBytes,
            origin::kRecorded},
      Field{"at_peak", &Memory::at_peak, "Who held memory at the peak, the largest first"},
      Field{"curve", &Memory::curve, "Highest point of each of up to 512 equal parts of the window"}};
};

template <>
struct Description<analysis::MemoryTimeline> {
  using Timeline = analysis::MemoryTimeline;
  static constexpr std::string_view kName = "MemoryTimeline";
  static constexpr auto kFields =
      std::tuple{Field{"start_ns", [](const Timeline& t) { return t.window.start; }, "Begin of the window",
                       unit::kNs, origin::kMeasured},
                 Field{"end_ns", [](const Timeline& t) { return t.window.end; }, "End of the window",
                       unit::kNs, origin::kMeasured},
                 Field{"devices", &Timeline::devices, "The host and each GPU"}};
};

}  // namespace hone::base
