// Reads traces from the files that libhone-inject.so wrote, one for each process.
#pragma once

#include <filesystem>
#include <vector>

#include "trace/trace.hpp"

namespace hone::trace {

/// Merges all files of one recording into one normalized trace. Damaged parts are left out and reported in
/// `doubts`. Throws bad input if a file was not written by the collector.
Trace read_raw(const std::vector<std::filesystem::path>& files);

}  // namespace hone::trace
