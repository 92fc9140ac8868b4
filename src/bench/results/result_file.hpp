// The one door to result files of `hone bench`, for the gate, the report and the figures.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/json.hpp"
#include "bench/results/run_record.hpp"

namespace hone::bench {

inline constexpr std::string_view kSchema = "hone.bench";
inline constexpr int kSchemaVersion = 1;

/// The file's JSON, which check_result accepts: at most 1 GiB, nesting at most 64 deep. Bad input naming the
/// file.
Json read_result_file(const std::filesystem::path& path);

/// Bad input when this is not of schema hone.bench and its version, with a list of runs.
void check_result(const Json& json);

/// All that a result file holds. Bad input naming the field; impossible numbers are left as they stand.
SweepRecord parse_record(const Json& json);
/// Bad input for a sample that is no time.
void check_samples(const SweepRecord& sweep);

}  // namespace hone::bench
