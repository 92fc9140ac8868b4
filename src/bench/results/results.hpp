// The result file of a sweep: schema hone.bench, version 1, described in docs/BENCHMARK.md. It is written
// anew after every round, so that what was measured is always complete on disk.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "bench/results/run.hpp"
#include "bench/results/run_record.hpp"

namespace hone::bench {

inline constexpr std::string_view kSchema = "hone.bench";
inline constexpr int kSchemaVersion = 1;

struct Sweep {
  Json context;
  Json options;
  std::vector<Run> runs;
  /// False while it runs and when it was interrupted.
  bool complete = false;
};

Json to_json(const Run& run);
Json to_json(const Sweep& sweep);

/// Atomic; environment error in one sentence when the disk is full or the folder read-only.
void write_sweep(const Sweep& sweep, const std::filesystem::path& path);

/// What a gate needs of an earlier sweep: configurations, threads, samples, failures; and the context.
/// Bad input naming file and field.
Sweep read_sweep(const std::filesystem::path& path);

/// The same of the file's content.
Sweep parse_sweep(const Json& json);

/// All that a result file holds. Bad input naming the field; impossible numbers are left as they stand.
SweepRecord parse_record(const Json& json);
/// Bad input for a sample that is no time.
void check_samples(const SweepRecord& sweep);

/// Small files `<folder>/<model>/<backend>.json`: latency and throughput per precision and batch. `models`
/// are all that the sweep was to measure, named as distinct_names does, whether or not it came to them.
/// Returns the files that it wrote.
std::vector<std::filesystem::path> write_small_results(const Sweep& sweep,
                                                       const std::vector<std::string>& models,
                                                       const std::filesystem::path& folder);

/// The model's name as a file name: the stem of a path, with other characters than letters, digits, '.', '-'
/// and '_' replaced; "model" where nothing is left.
std::string file_stem(const std::string& model);

/// One for each model: its stem, and before it as much of its path as no other model has; where that is not
/// enough, the whole file name, or a number behind it. Safe as relative paths.
std::vector<std::string> distinct_names(const std::vector<std::string>& models);

/// Whether both name one model, as ./net.onnx and net.onnx do.
bool same_model(const std::string& a, const std::string& b);

}  // namespace hone::bench
