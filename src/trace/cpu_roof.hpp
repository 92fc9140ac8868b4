// Peak rates of the CPU, measured when the trace was recorded. They are kept in the metadata of the trace and
// used for the lower bounds of layers.
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
  /// Operations per second by precision; a multiply-add counts as two. Precisions that were not measured are
  /// absent.
  std::map<std::string, double> flops_per_second;
  /// Share of the CPU that other processes used during the measurement, 0 to 1: the rates are too low if it
  /// is large.
  double other_share = 0;
  std::vector<Level> levels;  ///< the smallest first, main memory last

  /// The rate in a precision as the metadata name it ("int8+bf16": the rate of int8); 0 if it was not
  /// measured.
  double flops_in(const std::string& precision) const;
  /// The bandwidth of the smallest level that holds this number of bytes; 0 if no level was measured.
  double bandwidth_for(double bytes) const;
  double memory_bandwidth() const { return levels.empty() ? 0 : levels.back().bytes_per_second; }
  /// "measured on this CPU with 2 threads: 190 GFLOP/s in fp32, 41.20 GB/s from memory".
  std::string text(const std::string& precision) const;

  /// Empty if the trace does not hold the rates, or holds impossible values.
  static std::optional<CpuRoof> of(const Trace& trace);
  static std::optional<CpuRoof> parse(const std::string& json);
  std::string json() const;
};

/// Writes the rates into the metadata.
void describe_roof(Trace& trace, const CpuRoof& roof);

}  // namespace hone::trace
