// Fields of metrics of kernels.
#pragma once

#include "analysis/questions/kernel_metrics.hpp"
#include "base/described.hpp"

namespace hone::base {

template <>
struct Description<analysis::KernelMetricRow> {
  using Row = analysis::KernelMetricRow;
  static constexpr std::string_view kName = "KernelMetricRow";
  static constexpr auto kFields = std::tuple{
      Field{"device", &Row::device, "Number of the GPU"},
      Field{"kernel", &Row::kernel, "Name of the kernel"},
      Field{"metric", &Row::metric, "Name of the metric, as it was asked for"},
      Field{"unit", &Row::unit, "Its unit; empty for counts and ratios"},
      Field{"invocations", &Row::invocations, "Launches that have a value", unit::kCount, origin::kMeasured},
      Field{"min", &Row::min, "Smallest value, in the metric's unit", "", origin::kMeasured},
      Field{"max", &Row::max, "Largest value, in the metric's unit", "", origin::kMeasured},
      Field{"mean", &Row::mean, "Mean of the launches, in the metric's unit", "", origin::kMeasured}};
};

template <>
struct Description<analysis::KernelMetricTable> {
  using Table = analysis::KernelMetricTable;
  static constexpr std::string_view kName = "KernelMetricTable";
  static constexpr auto kFields =
      std::tuple{Field{"launches", &Table::launches, "Launches of kernels that were measured", unit::kCount,
                       origin::kMeasured},
                 Field{"rows", &Table::rows, "By kernel and metric, in the order in which they first came"}};
};

}  // namespace hone::base
