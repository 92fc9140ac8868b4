// Finds results of benchmarks, traces, partitions and pipelines among files and folders that people name.
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
  std::vector<RunFile> files;          ///< each once, in the order named; those of a folder sorted
  std::vector<std::string> sentences;  ///< what cannot be searched, and why
  size_t others = 0;                   ///< JSON files in folders that are neither
};

/// A file that is named is taken for a trace when it is no result; whether it is one shows when it is read.
/// Folders are searched down to 16 levels, those with more than `most_entries` not at all; links in them are
/// not followed.
RunFiles find_run_files(const std::vector<std::string>& named, size_t most_entries = 10'000);

/// The name without folder and the extensions of traces, as a file name: "resnet50-hone-fp16-b1".
std::string trace_stem(const std::filesystem::path& path);

}  // namespace hone::report
