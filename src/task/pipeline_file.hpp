// Files that `hone detect --stats` writes: the report of one pipeline, or those of several backends.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "task/pipeline_report.hpp"

namespace hone::task {

/// Reads one pipeline, or those that ran in a table of backends. Bad input naming the field; files are
/// untrusted.
std::vector<PipelineReport> parse_pipelines(std::string_view text);
/// Reads a file of 64 MiB at most. Bad input naming it, too.
std::vector<PipelineReport> read_pipelines(const std::filesystem::path& file);

}  // namespace hone::task
