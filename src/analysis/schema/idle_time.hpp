// Fields of the causes of a device's idle time.
#pragma once

#include "analysis/questions/idle_time.hpp"
#include "analysis/schema/times.hpp"

namespace hone::base {

template <>
struct Description<analysis::IdleRow> {
  using Row = analysis::IdleRow;
  static constexpr std::string_view kName = "IdleRow";
  static constexpr auto kFields = std::tuple{
      Field{"cause", [](const Row& row) { return analysis::idle_cause_name(row.cause); },
            "The cause of the device's wait"},
      Field{"name", &Row::name, "Name of the call, range, function or operation"},
      Field{"time_ns", &Row::time, "Idle time that it explains", unit::kNs, origin::kEstimated},
      Field{"share", &Row::share, "By the time from the first to the last work", unit::kShare,
            origin::kEstimated},
      Field{"gaps", &Row::gaps, "Idle intervals that it has a part in", unit::kCount, origin::kEstimated}};
};

template <>
struct Description<analysis::DeviceIdle> {
  using Idle = analysis::DeviceIdle;
  static constexpr std::string_view kName = "DeviceIdle";
  static constexpr auto kFields = std::tuple{
      Field{"device", &Idle::device, "Number of the GPU"},
      Field{"start_ns", [](const Idle& idle) { return idle.span.start; }, "Begin of the window", unit::kNs,
            origin::kMeasured},
      Field{"end_ns", [](const Idle& idle) { return idle.span.end; }, "End of the window", unit::kNs,
            origin::kMeasured},
      Field{"busy_ns", &Idle::busy, "Time in which at least one operation ran", unit::kNs, origin::kMeasured},
      Field{"idle_ns", &Idle::idle, "Time in which none ran", unit::kNs, origin::kMeasured},
      Field{"gaps", &Idle::gaps, "Idle intervals", unit::kCount, origin::kMeasured},
      Field{"longest_gap_ns", &Idle::longest, "The longest of them", unit::kNs, origin::kMeasured},
      Field{"causes", &Idle::rows, "What it waited for, the longest first"}};
};

template <>
struct Description<analysis::IdleTime> {
  static constexpr std::string_view kName = "IdleTime";
  static constexpr auto kFields = std::tuple{Field{"devices", &analysis::IdleTime::devices, "Every GPU"}};
};

}  // namespace hone::base
