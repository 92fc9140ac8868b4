// The table of a sweep, printed row by row, and the sentences below it.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "bench/results/run_record.hpp"
#include "bench/setup.hpp"
#include "report/terminal/table.hpp"

namespace hone::report {

/// The part of a sweep's request that the table shows.
struct BenchForm {
  std::vector<std::string> models;
  std::vector<std::string> backends;
  std::vector<std::string> precisions;
  /// Percentiles in percent.
  std::vector<double> percentiles;
  /// The backend that speedups refer to.
  std::string compare_to;
  /// The common part of all setups: device, streams, transfers, busy threads.
  bench::Setup setup;
};

class BenchTable {
 public:
  /// If the width (in characters) is too small for all columns, cells are shorter and only one space apart.
  /// Columns that still do not fit are left out, least important for a comparison of systems first. With 80
  /// columns, a sweep of one model keeps latency, tail, throughput, speedup, error and verdict.
  explicit BenchTable(const BenchForm& form, size_t width = static_cast<size_t>(-1));

  std::string header() const { return table_.header(); }
  std::string row(const bench::RunRecord& run) const;
  /// The titles of columns that were left out.
  const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  Table fitting(const BenchForm& form, size_t width);
  std::vector<std::string> shown(const std::vector<std::string>& cells) const;

  std::map<std::string, std::string> names_;  ///< unique short names of models
  std::vector<bool> shown_;                   ///< for each column
  std::vector<std::string> left_out_;
  bool tight_ = false;  ///< cells are shorter
  /// Shows times by the device's clock, and the device's memory.
  bool device_;
  bool overlaps_;
  bool int8_;
  std::vector<double> percentiles_;
  Table table_;
};

/// Notes below the table, one sentence per line: the meaning of columns, the reasons for INVALID, and the
/// notes of backends. `remarks` are additional notes about runs.
std::vector<std::string> bench_notes(const bench::SweepRecord& sweep, const BenchForm& form,
                                     std::span<const std::string> remarks = {});

}  // namespace hone::report
