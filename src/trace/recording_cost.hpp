// The cost of recording a model: measured by runs with and without it, kept in the trace, and reported in the
// same words by all commands.
#pragma once

#include <optional>
#include <string>

#include "base/statistics.hpp"
#include "trace/trace.hpp"

namespace hone::trace {

struct RecordingCost {
  double plain_ms = 0;     ///< median latency when nothing was recorded
  double recorded_ms = 0;  ///< and while it was
  /// 95 % interval of plain_ms; nothing of too few runs and in traces of earlier versions.
  std::optional<base::Interval> plain_interval = std::nullopt;
  /// "+3.1 %"; or that the runs do not show it, whatever their medians are.
  std::string text;

  /// Nothing where the trace does not hold it.
  static std::optional<RecordingCost> of(const Trace& trace);
};

/// Puts the medians, in milliseconds, and whether they differ into the metadata.
void describe_cost(Trace& trace, const base::Summary& plain, const base::Summary& recorded);

}  // namespace hone::trace
