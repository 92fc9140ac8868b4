// The cost of recording a model. It is measured by runs with and without recording, stored in the trace, and
// reported in the same words by all commands.
#pragma once

#include <optional>
#include <string>

#include "base/statistics.hpp"
#include "trace/trace.hpp"

namespace hone::trace {

struct RecordingCost {
  double plain_ms = 0;     ///< median latency without recording
  double recorded_ms = 0;  ///< median latency with recording
  /// 95 % interval of plain_ms; empty with too few runs and in traces of earlier versions.
  std::optional<base::Interval> plain_interval = std::nullopt;
  /// "+3.1 %", or a statement that the runs show no difference, whatever the medians are.
  std::string text;

  /// Empty if the trace does not hold the cost.
  static std::optional<RecordingCost> of(const Trace& trace);
};

/// Writes the medians, in milliseconds, and whether they differ into the metadata.
void describe_cost(Trace& trace, const base::Summary& plain, const base::Summary& recorded);

}  // namespace hone::trace
