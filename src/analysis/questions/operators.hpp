// The operator table: the cost of each operator of a framework on the host and on the device.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/intervals.hpp"
#include "base/json.hpp"

namespace hone::analysis {

/// All calls of one operator, or its calls with certain input shapes. Times in ns.
struct OperatorRow {
  std::string name;
  std::string input_shapes;  ///< JSON, as recorded; empty if rows are not separated by shapes
  int64_t calls = 0;
  Time host_total = 0;  ///< a call inside another call of the same row counts once
  Time host_self = 0;   ///< without the operators and API calls inside
  Time device_total = 0;
  Time device_self = 0;    ///< kernels, copies and sets that it launched itself; concurrent ones are added up
  Time device_tensor = 0;  ///< the part of device_self in kernels that use Tensor Cores, by name
  bool tensor_core_eligible = false;  ///< by name

  std::optional<std::string> shapes_if_known() const {
    return input_shapes.empty() ? std::nullopt : std::optional(input_shapes);
  }
};

struct OperatorTable {
  Span window;
  std::vector<OperatorRow> rows;  ///< by device_self, then host_self, largest first
  int64_t unjoined_events = 0;    ///< device events that no operator launched
  Time unjoined_time = 0;         ///< ns
};

/// Operators that start in the window, and the device events that they launched, even if those ran later.
/// Joined by external id and correlation, else by nesting in time.
OperatorTable tabulate_operators(const trace::Trace& trace, Span window, bool by_input_shapes = false);

Json to_json(const OperatorTable& table);

}  // namespace hone::analysis
