// The table of a sweep, row by row, and the sentences below it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/results/run.hpp"
#include "bench/sweep/sweep.hpp"
#include "report/terminal/table.hpp"

namespace hone::report {

class BenchTable {
 public:
  /// Columns that a width of so many characters has no room for are left out, those first that say least of
  /// which system is faster.
  explicit BenchTable(const bench::SweepOptions& options, size_t width = static_cast<size_t>(-1));

  std::string header() const { return table_.header(); }
  std::string row(const bench::Run& run) const;
  /// The titles of columns that are left out.
  const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  std::vector<Column> fitting(std::vector<Column> columns, size_t precisions, size_t width);

  std::vector<std::string> shown(const std::vector<std::string>& cells) const;

  std::map<std::string, std::string> names_;  ///< of models, each another one
  std::vector<bool> shown_;                   ///< for each column
  std::vector<std::string> left_out_;
  /// Times by the device's clock and the device's memory are shown.
  bool device_;
  bool overlaps_;
  bool int8_;
  std::vector<double> percentiles_;
  Table table_;
};

/// What the columns mean, why rows are INVALID, and what the backends had to say; one sentence a line.
std::vector<std::string> bench_notes(const bench::Sweep& sweep, const bench::SweepOptions& options);

}  // namespace hone::report
