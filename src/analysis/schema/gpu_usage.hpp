// Fields of how busy GPUs were.
#pragma once

#include <fmt/format.h>

#include "analysis/questions/gpu_usage.hpp"
#include "analysis/schema/times.hpp"

namespace hone::base {

template <>
struct Description<analysis::Figure> {
  using Figure = analysis::Figure;
  static constexpr std::string_view kName = "ShareFigure";
  static constexpr auto kFields = std::tuple{
      Field{"value", &Figure::value, "The figure itself", unit::kShare},
      Field{"origin", [](const Figure& figure) { return analysis::origin_name(figure.origin); },
            "measured, estimated from how kernels were launched, or by name of kernels"},
      Field{"coverage", &Figure::coverage, "Share of kernel time for which what it needs was recorded",
            unit::kShare, origin::kMeasured}};
};

template <>
struct Description<analysis::CounterMean> {
  using Counter = analysis::CounterMean;
  static constexpr std::string_view kName = "CounterMean";
  static constexpr auto kFields = std::tuple{
      Field{"name", &Counter::name, "Name of the counter"},
      Field{"unit", &Counter::unit, "Its unit"},
      Field{"mean", &Counter::mean, "Mean over the window, weighted by time, in the counter's unit", "",
            origin::kMeasured},
      Field{"min", &Counter::min, "Smallest sample, in the counter's unit", "", origin::kMeasured},
      Field{"max", &Counter::max, "Largest sample, in the counter's unit", "", origin::kMeasured},
      Field{"samples", &Counter::samples, "How many samples there are", unit::kCount, origin::kMeasured}};
};

template <>
struct Description<analysis::DeviceUsage> {
  using Usage = analysis::DeviceUsage;
  static constexpr std::string_view kName = "DeviceUsage";
  static constexpr auto kFields = std::tuple{
      Field{"device", &Usage::device, "Number of the GPU"},
      Field{"name", &Usage::name, "Name of the GPU"},
      Field{"memory_bytes", &Usage::memory_bytes, "Its memory", unit::kBytes, origin::kRecorded},
      Field{"compute_capability",
            [](const Usage& u) { return fmt::format("{}.{}", u.compute_major, u.compute_minor); },
            "Capabilities of its processors"},
      Field{"multiprocessors", &Usage::multiprocessors, "Its SMs", unit::kCount, origin::kRecorded},
      Field{"kernels", &Usage::kernels, "Kernels in the window", unit::kCount, origin::kMeasured},
      Field{"kernel_time_ns", &Usage::kernel_time, "Their times added up", unit::kNs, origin::kMeasured},
      Field{"busy_ns", &Usage::busy, "Time in which at least one kernel ran", unit::kNs, origin::kMeasured},
      Field{"utilization", &Usage::utilization,
            "Time in which a kernel ran by the window; copies do not count"},
      Field{
          "sm_efficiency", &Usage::sm_efficiency,
          "Share of the SMs that had a block, over the window: min(blocks by SMs, 1) of the kernels running"},
      Field{"occupancy", &Usage::occupancy,
            "Share of an SM's warps that were in use while kernels ran; idle time is not in it"},
      Field{"tensor_cores", &Usage::tensor_cores,
            "Time of kernels that use Tensor Cores by the time of all kernels"},
      Field{"measured_gr_active", &Usage::measured_gr_active,
            "Cycles in which the graphics and compute engine worked, by a counter, over the window"},
      Field{"measured_sms_active", &Usage::measured_sms_active,
            "Cycles in which an SM had work, by a counter, over the window"},
      Field{"measured_warps_active", &Usage::measured_warps_active,
            "Warps resident on SMs by those they can hold, by a counter, over the window"},
      Field{"measured_tensor_active", &Usage::measured_tensor_active,
            "Cycles in which Tensor Cores worked, by a counter, over the window"},
      Field{"counters", &Usage::counters, "Every counter that was sampled"}};
};

template <>
struct Description<analysis::GpuUsage> {
  using Usage = analysis::GpuUsage;
  static constexpr std::string_view kName = "GpuUsage";
  static constexpr auto kFields =
      std::tuple{Field{"start_ns", [](const Usage& u) { return u.window.start; }, "Begin of the window",
                       unit::kNs, origin::kMeasured},
                 Field{"end_ns", [](const Usage& u) { return u.window.end; }, "End of the window", unit::kNs,
                       origin::kMeasured},
                 Field{"devices", &Usage::devices, "GPUs that are described or did something"}};
};

}  // namespace hone::base
