// Peak rates of a trace's CPU, measured when the trace was recorded: kept in the trace's metadata, read by
// analyses for the floors of layers.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace hone::trace {

struct CpuRoof {
  /// Memory of this size; 0 for main memory.
  struct Level {
    double bytes = 0;
    double bytes_per_second = 0;
  };

  int threads = 1;
  /// Operations a second by precision, a multiply-add is two. Precisions that were not measured are absent.
  std::map<std::string, double> flops_per_second;
  /// Share of the CPU that other processes used while it was measured, 0 to 1: the rates are too low then.
  double other_share = 0;
  std::vector<Level> levels;  ///< the smallest first, main memory last

  /// The rate in a precision as the metadata name it ("int8+bf16": that of int8); 0 where not measured.
  double flops_in(const std::string& precision) const;
  /// The bandwidth of the smallest level that holds that many bytes; 0 where no level was measured.
  double bandwidth_for(double bytes) const;
  double memory_bandwidth() const { return levels.empty() ? 0 : levels.back().bytes_per_second; }
  /// "measured on this CPU with 2 threads: 190 GFLOP/s in fp32, 41.20 GB/s from memory".
  std::string text(const std::string& precision) const;

  /// Nothing where the trace does not hold it, or holds impossible values.
  static std::optional<CpuRoof> of(const Trace& trace);
  static std::optional<CpuRoof> parse(const std::string& json);
  std::string json() const;
};

/// Puts it into the metadata.
void describe_roof(Trace& trace, const CpuRoof& roof);

}  // namespace hone::trace
