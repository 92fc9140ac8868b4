// Fields of the operator table.
#pragma once

#include "analysis/questions/operators.hpp"
#include "analysis/schema/times.hpp"

namespace hone::base {

template <>
struct Description<analysis::OperatorRow> {
  using Row = analysis::OperatorRow;
  static constexpr std::string_view kName = "OperatorRow";
  static constexpr auto kFields = std::tuple{
      Field{"name", &Row::name, "Name of the operator"},
      Field{"input_shapes", &Row::shapes_if_known, "Shapes of its inputs, where rows differ in them"},
      Field{"calls", &Row::calls, "How often it ran", unit::kCount, origin::kMeasured},
      Field{"host_self_ns", &Row::host_self, "Host time without the operators and API calls inside",
            unit::kNs, origin::kMeasured},
      Field{"host_total_ns", &Row::host_total,
            "Host time from begin to end; a call inside another one of the same row counts once", unit::kNs,
            origin::kMeasured},
      Field{"device_self_ns", &Row::device_self, "Time of kernels, copies and sets it launched itself",
            unit::kNs, origin::kMeasured},
      Field{"device_total_ns", &Row::device_total, "Device time with the operators inside", unit::kNs,
            origin::kMeasured},
      Field{
          "device_tensor_core_ns", &Row::device_tensor,
          "The part of its own device time in kernels that use Tensor Cores, by their instructions or, where "
          "these are not known, by their names",
          unit::kNs, origin::kNamed},
      Field{"tensor_core_eligible_by_name", &Row::tensor_core_eligible,
            "True if Tensor Cores can run such an operator", unit::kCount, origin::kNamed}};
};

template <>
struct Description<analysis::OperatorTable> {
  using Table = analysis::OperatorTable;
  static constexpr std::string_view kName = "OperatorTable";
  static constexpr auto kFields = std::tuple{
      Field{"start_ns", [](const Table& t) { return t.window.start; }, "Begin of the window", unit::kNs,
            origin::kMeasured},
      Field{"end_ns", [](const Table& t) { return t.window.end; }, "End of the window", unit::kNs,
            origin::kMeasured},
      Field{"operators", &Table::rows, "By their own device time, then host time, the largest first"},
      Field{"unjoined_device_events", &Table::unjoined_events,
            "Kernels, copies and sets that no operator launched", unit::kCount, origin::kMeasured},
      Field{"unjoined_device_ns", &Table::unjoined_time, "Their time", unit::kNs, origin::kMeasured}};
};

}  // namespace hone::base
