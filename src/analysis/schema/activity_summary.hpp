// Fields of activities: kernels, copies, API calls, ranges.
#pragma once

#include "analysis/names.hpp"
#include "analysis/questions/activity_summary.hpp"
#include "analysis/schema/times.hpp"

namespace hone::base {

template <>
struct Description<analysis::Activity> {
  using Activity = analysis::Activity;
  static constexpr std::string_view kName = "Activity";
  static constexpr auto kFields = std::tuple{
      Field{"kind", [](const Activity& a) { return analysis::activity_kind_name(a.kind); },
            "kernel, copy, set, api, range or thread"},
      Field{"name", &Activity::name, "Name of the kernel, copy, call or range"},
      Field{"calls", [](const Activity& a) { return a.times.n; }, "How often it ran", unit::kCount,
            origin::kMeasured},
      Field{"share", &Activity::share, "Its total by the total of the table", unit::kShare,
            origin::kMeasured},
      Field{"total_ns", &Activity::total, "All its times added up", unit::kNs, origin::kMeasured},
      Field{"average_ns", [](const Activity& a) { return a.times.mean; }, "Mean time of a call", unit::kNs,
            origin::kMeasured},
      Field{"median_ns", [](const Activity& a) { return a.times.p50; }, "Half of the calls take at most this",
            unit::kNs, origin::kMeasured},
      Field{"min_ns", [](const Activity& a) { return a.times.min; }, "Shortest call", unit::kNs,
            origin::kMeasured},
      Field{"max_ns", [](const Activity& a) { return a.times.max; }, "Longest call", unit::kNs,
            origin::kMeasured},
      Field{"sd_ns", [](const Activity& a) { return a.times.sd; }, "Standard deviation of the calls",
            unit::kNs, origin::kMeasured},
      Field{"tensor_cores", &Activity::tensor_cores, "True if the kernel uses Tensor Cores"},
      Field{"tensor_cores_by",
            [](const Activity& a) -> std::string_view {
              return a.tensor_cores_by_name ? "name" : "instructions";
            },
            "The source of that: the kernel's instructions, or its name where they are not known"},
      Field{
          "blocks_per_sm", &Activity::blocks_per_sm,
          "Blocks of a launch by the SMs of the device; mean, weighted by time. Less than 1 leaves SMs idle",
          unit::kRatio, origin::kRecorded},
      Field{"occupancy", &Activity::occupancy,
            "Warps that fit on an SM together, by those it can hold; mean, weighted by time", unit::kShare,
            origin::kEstimated},
      Field{"grid", [](const Activity& a) { return a.launch ? std::optional(a.launch->grid) : std::nullopt; },
            "Blocks of a launch, where launches are told apart by them"},
      Field{"block",
            [](const Activity& a) { return a.launch ? std::optional(a.launch->block) : std::nullopt; },
            "Threads of a block, where launches are told apart by them"}};
};

template <>
struct Description<analysis::Volume> {
  using Volume = analysis::Volume;
  static constexpr std::string_view kName = "Volume";
  static constexpr auto kFields = std::tuple{
      Field{"kind", [](const Volume& v) { return analysis::activity_kind_name(v.kind); }, "copy or set"},
      Field{"direction", [](const Volume& v) { return analysis::direction_name(v.direction); },
            "HtoD: from the host to the device; DtoH, DtoD, HtoH, PtoP alike"},
      Field{"count", [](const Volume& v) { return v.sizes.n; }, "How many there were", unit::kCount,
            origin::kMeasured},
      Field{"bytes", &Volume::bytes, "Bytes of all of them", unit::kBytes, origin::kRecorded},
      Field{"busy_ns", &Volume::busy, "Time in which at least one of them ran", unit::kNs, origin::kMeasured},
      Field{"bytes_per_second", &Volume::rate, "Bytes by that time", unit::kByteRate, origin::kMeasured},
      Field{"average_bytes", [](const Volume& v) { return v.sizes.mean; }, "Mean size", unit::kBytes,
            origin::kRecorded},
      Field{"median_bytes", [](const Volume& v) { return v.sizes.p50; }, "Half of them have at most this",
            unit::kBytes, origin::kRecorded},
      Field{"min_bytes", [](const Volume& v) { return v.sizes.min; }, "Smallest", unit::kBytes,
            origin::kRecorded},
      Field{"max_bytes", [](const Volume& v) { return v.sizes.max; }, "Largest", unit::kBytes,
            origin::kRecorded},
      Field{"sd_bytes", [](const Volume& v) { return v.sizes.sd; }, "Standard deviation of sizes",
            unit::kBytes, origin::kRecorded}};
};

template <>
struct Description<analysis::ActivitySummary> {
  using Summary = analysis::ActivitySummary;
  static constexpr std::string_view kName = "ActivitySummary";
  static constexpr auto kFields =
      std::tuple{Field{"start_ns", [](const Summary& s) { return s.window.start; }, "Begin of the window",
                       unit::kNs, origin::kMeasured},
                 Field{"end_ns", [](const Summary& s) { return s.window.end; }, "End of the window",
                       unit::kNs, origin::kMeasured},
                 Field{"gpu_activities", &Summary::gpu, "Kernels, copies by direction, sets"},
                 Field{"api_calls", &Summary::calls, "Calls of the runtime and the driver API"},
                 Field{"ranges", &Summary::ranges, "Ranges that the program announced"},
                 Field{"thread_calls", &Summary::thread_calls, "Calls in which threads wait for each other"},
                 Field{"transfers", &Summary::volumes, "Sizes of copies and sets"}};
};

}  // namespace hone::base
