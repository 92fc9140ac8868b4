// Torch-TensorRT's report on its own partition of a model, for comparison with hone's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace hone::backend::partition {

struct DryRunReport {
  int64_t operators = 0;
  int64_t supported = 0;
  /// The number of operators in each engine.
  std::vector<int64_t> engines;
  /// Operators that are not supported, with their counts.
  std::vector<std::pair<std::string, int64_t>> unsupported;
  /// Numbers of engines by the min_block_size that gives them.
  std::vector<std::pair<int64_t, int64_t>> advice;
};

/// Reads the text that torch_tensorrt.dynamo.compile(..., dryrun=True) prints or writes, with any text around
/// it. Bad input, naming the file, if it contains no report.
DryRunReport read_dry_run_report(const std::filesystem::path& file);

/// "Torch-TensorRT's dry run: 156 of 160 operators in 2 engines; not taken: aten.sort.default (2); it says
/// that min_block_size 100 gives 1 engine".
std::string dry_run_text(const DryRunReport& report);

}  // namespace hone::backend::partition
