// The one door to result files of `hone bench`, for the gate, the report and the figures.
#pragma once

#include <filesystem>

#include "base/json.hpp"

namespace hone::bench {

/// The file's JSON, which check_result accepts: at most 1 GiB, nesting at most 64 deep. Bad input naming the
/// file.
Json read_result_file(const std::filesystem::path& path);

/// Bad input when this is not of schema hone.bench and its version, with a list of runs.
void check_result(const Json& json);

}  // namespace hone::bench
