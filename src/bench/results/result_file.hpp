// Reads result files of `hone bench`, for the gate, the report and the figures.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "bench/results/run_record.hpp"

namespace hone::bench {

inline constexpr std::string_view kSchema = "hone.bench";
inline constexpr int kSchemaVersion = 1;

/// Returns the file's JSON, checked by check_result. The file may have at most 1 GiB, and may nest at most 64
/// deep. Bad input names the file.
Json read_result_file(const std::filesystem::path& path);

/// Bad input if this is not JSON of schema hone.bench in its version, with a list of runs.
void check_result(const Json& json);

/// Parses the whole content of a result file. Bad input names the field; impossible numbers are kept
/// unchanged.
SweepRecord parse_record(const Json& json);
/// Returns the input shapes of a model in the context of a sweep, such as "ids 1x8, mask 1x8", at the batch
/// that the model's file has; empty in older files.
std::string input_shapes(const Json& context, const std::string& model);
/// Bad input if a sample is not a valid time.
void check_samples(const SweepRecord& sweep);

}  // namespace hone::bench
