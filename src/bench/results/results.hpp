// The result file of a sweep: schema hone.bench, version 1, described in docs/BENCHMARK.md. It is rewritten
// after every round, so that the file always contains everything measured so far.
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
  /// False while the sweep runs, and if it was interrupted.
  bool complete = false;
};

Json to_json(const Run& run);
Json to_json(const Sweep& sweep);

/// Writes atomically. Environment error if the disk is full or the folder is read-only.
void write_sweep(const Sweep& sweep, const std::filesystem::path& path);

/// Reads the parts of an earlier sweep that the gate needs: the context, and configurations with threads,
/// samples and failures. Bad input names file and field.
Sweep read_sweep(const std::filesystem::path& path);

/// Parses a sweep from the content of a file.
Sweep parse_sweep(const Json& json);

/// Writes small files `<folder>/<model>/<backend>.json` with latency and throughput per precision and batch.
/// `models` are all models of the sweep, including those that were not reached, named as by distinct_names.
/// Returns the files that it wrote.
std::vector<std::filesystem::path> write_small_results(const Sweep& sweep,
                                                       const std::vector<std::string>& models,
                                                       const std::filesystem::path& folder);

}  // namespace hone::bench
