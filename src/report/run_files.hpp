// Finds results of benchmarks, traces, partitions and pipelines in the files and folders that a user named.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hone::report {

enum class RunFileKind { kSweep, kTrace, kPartition, kPipeline };

struct RunFile {
  std::filesystem::path path;
  RunFileKind kind = RunFileKind::kTrace;
};

struct RunFiles {
  std::vector<RunFile> files;  ///< without duplicates, in the order named; files of a folder are sorted
  std::vector<std::string> sentences;  ///< which folders could not be searched, and why
  size_t others = 0;                   ///< number of JSON files in folders that are of no known kind
};

/// A named file that is not a result counts as a trace; reading it later shows whether it is one. Folders are
/// searched up to 16 levels deep, without following links; a folder with more than `most_entries` entries is
/// not searched.
RunFiles find_run_files(const std::vector<std::string>& named, size_t most_entries = 10'000);

/// The file name without folder and trace extensions: "resnet50-hone-fp16-b1".
std::string trace_stem(const std::filesystem::path& path);

}  // namespace hone::report
