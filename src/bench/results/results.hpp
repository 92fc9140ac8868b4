// The result file of a sweep: schema hone.bench, version 1, described in docs/BENCHMARK.md. It is written
// anew after every round, so that what was measured is always complete on disk.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "bench/results/run.hpp"

namespace hone::bench {

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

/// Reads the parts of an earlier sweep that a gate needs: configurations, threads, samples, failures; and the
/// context. Bad input naming file and field.
Sweep read_sweep(const std::filesystem::path& path);

/// Reads a sweep from the content of a file.
Sweep parse_sweep(const Json& json);

/// Small files `<folder>/<model>/<backend>.json`: latency and throughput per precision and batch. `models`
/// are all that the sweep was to measure, named as distinct_names does, whether or not it came to them.
/// Returns the files that it wrote.
std::vector<std::filesystem::path> write_small_results(const Sweep& sweep,
                                                       const std::vector<std::string>& models,
                                                       const std::filesystem::path& folder);

}  // namespace hone::bench
