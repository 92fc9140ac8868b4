// Fields of the critical path and of its length if something changed.
#pragma once

#include "analysis/questions/critical_path.hpp"
#include "analysis/questions/what_if.hpp"
#include "analysis/schema/times.hpp"

namespace hone::base {

template <>
struct Description<analysis::FunctionTime> {
  using Row = analysis::FunctionTime;
  static constexpr std::string_view kName = "FunctionTime";
  static constexpr auto kFields = std::tuple{
      Field{"kind", [](const Row& row) { return analysis::charge_kind_name(row.kind); }, "What the time is"},
      Field{"name", &Row::name, "Name of the call or operation"},
      Field{"calls", &Row::calls, "How often it ran", unit::kCount, origin::kMeasured},
      Field{"critical_path_ns", &Row::on_path,
            "Its time on the critical path: only this makes the program shorter when it gets faster",
            unit::kNs, origin::kEstimated},
      Field{"share", &Row::share, "That time by the wall time", unit::kShare, origin::kEstimated},
      Field{"waiting_ns", &Row::waiting,
            "Time in which a host thread was blocked in it, waiting for the GPU or another thread", unit::kNs,
            origin::kEstimated},
      Field{
          "device_waiting_ns", &Row::device_waiting,
          "Time in which operations, though launched, waited for others than the one before in their stream",
          unit::kNs, origin::kEstimated},
      Field{"queue_delay_ns", &Row::queue_delay,
            "The part of it due only to false dependencies: streams that share a hardware queue", unit::kNs,
            origin::kEstimated},
      Field{"blame_ns", &Row::blame,
            "Waiting of others that it is the cause of: of host threads, or idle time of the device",
            unit::kNs, origin::kEstimated}};
};

template <>
struct Description<analysis::SegmentTable> {
  using Table = analysis::SegmentTable;
  static constexpr std::string_view kName = "SegmentTable";
  static constexpr auto kFields = std::tuple{
      Field{"columns", [](const Table&) { return analysis::SegmentTable::kColumns; }, "What a row holds"},
      Field{"rows", &Table::rows,
            "Segments of the path, the oldest first. function: index into functions; thread, event: indices "
            "into the trace, -1 for none"},
      Field{"left_out", &Table::left_out, "Shorter ones that are not in the list", unit::kCount,
            origin::kMeasured}};
};

template <>
struct Description<analysis::DeviceClock> {
  using Clock = analysis::DeviceClock;
  static constexpr std::string_view kName = "DeviceClock";
  static constexpr auto kFields = std::tuple{
      Field{"device", &Clock::device, "Number of the GPU"},
      Field{"offset_ns", &Clock::offset, "Added to its times, so that no operation begins before its launch",
            unit::kNs, origin::kEstimated},
      Field{"launches", &Clock::launches, "Launches that bound it", unit::kCount, origin::kMeasured},
      Field{"waits", &Clock::waits, "Waits that bound it", unit::kCount, origin::kMeasured},
      Field{"violations_before", &Clock::violations, "Contradictions before", unit::kCount,
            origin::kMeasured},
      Field{"violations_left", &Clock::residual, "Contradictions that remain", unit::kCount,
            origin::kMeasured},
      Field{"largest_left_ns", &Clock::largest_residual, "The largest of them", unit::kNs,
            origin::kMeasured}};
};

template <>
struct Description<analysis::CriticalPath> {
  using Path = analysis::CriticalPath;
  static constexpr std::string_view kName = "CriticalPath";
  static constexpr auto kFields = std::tuple{
      Field{"start_ns", [](const Path& path) { return path.window.start; }, "Begin of the window", unit::kNs,
            origin::kMeasured},
      Field{"end_ns", [](const Path& path) { return path.window.end; }, "End of the window", unit::kNs,
            origin::kMeasured},
      Field{"wall_ns", &Path::wall, "Length of the window, and of the path", unit::kNs, origin::kMeasured},
      Field{"waiting_ns", &Path::waiting, "Waiting time of all host threads", unit::kNs, origin::kEstimated},
      Field{"profiler_overhead_ns", &Path::profiler_overhead, "The profiler's own work on the path",
            unit::kNs, origin::kMeasured},
      Field{"functions", &Path::functions, "By their time on the path, the longest first"},
      Field{"segments", [](const Path& path) { return analysis::longest_segments(path); }, "The path itself"},
      Field{"clock", [](const Path& path) { return path.clock.devices; },
            "How the device's clock was moved against the host's"},
      Field{"doubts", &Path::doubts, "Gaps in the trace"}};
};

template <>
struct Description<analysis::WhatIf> {
  using WhatIf = analysis::WhatIf;
  static constexpr std::string_view kName = "WhatIf";
  static constexpr auto kFields = std::tuple{
      Field{"change", [](const WhatIf& row) { return analysis::change_kind_name(row.kind); },
            "faster, overlap_copies or no_wait"},
      Field{"name", &WhatIf::name, "Operations or calls that it changes"},
      Field{"factor", &WhatIf::factor, "How many times faster; 0: takes no time", unit::kRatio},
      Field{"wall_ns", &WhatIf::wall, "Wall time that the program would take", unit::kNs, origin::kEstimated},
      Field{"gain_ns", &WhatIf::gain, "Wall time that it would save", unit::kNs, origin::kEstimated},
      Field{"share", &WhatIf::share, "That by the measured wall time", unit::kShare, origin::kEstimated},
      Field{"at_most", &WhatIf::is_bound,
            "The operation may need data in ways that the trace does not show: the gain is at most this"}};
};

template <>
struct Description<analysis::WhatIfs> {
  using WhatIfs = analysis::WhatIfs;
  static constexpr std::string_view kName = "WhatIfs";
  static constexpr auto kFields =
      std::tuple{Field{"wall_ns", &WhatIfs::wall, "Wall time as measured", unit::kNs, origin::kMeasured},
                 Field{"changes", &WhatIfs::rows, "The largest gain first"}};
};

}  // namespace hone::base
