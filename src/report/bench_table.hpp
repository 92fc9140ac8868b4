// The table of a sweep, row by row, and the sentences below it.
#pragma once

#include <string>
#include <vector>

#include "bench/run.hpp"
#include "bench/sweep.hpp"
#include "report/table.hpp"

namespace hone::report {

class BenchTable {
 public:
  explicit BenchTable(const bench::SweepOptions& options);

  std::string header() const { return table_.header(); }
  std::string row(const bench::Run& run) const;

 private:
  /// Times by the device's clock, pipelined throughput and the device's memory are shown.
  bool device_;
  Table table_;
};

/// What the columns mean, why rows are INVALID, and what the backends had to say; one sentence a line.
std::vector<std::string> bench_notes(const bench::Sweep& sweep, const bench::SweepOptions& options);

}  // namespace hone::report
