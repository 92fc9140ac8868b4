// Files that `hone detect --stats` writes: the report of one pipeline, or of several backends.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "task/pipeline_report.hpp"

namespace hone::task {

/// Reads one pipeline, or several from a table of backends. Files are untrusted; bad input names the field.
std::vector<PipelineReport> parse_pipelines(std::string_view text);
/// Reads a file of at most 64 MiB. Bad input also names the file.
std::vector<PipelineReport> read_pipelines(const std::filesystem::path& file);

}  // namespace hone::task
