// Traces out of the files that libhone-inject.so wrote, one a process.
#pragma once

#include <filesystem>
#include <vector>

#include "trace/trace.hpp"

namespace hone::trace {

/// All files of one recording in one normalized trace. Broken or damaged parts are left out, which `doubts`
/// says. Bad input when a file is none of the collector's.
Trace read_raw(const std::vector<std::filesystem::path>& files);

}  // namespace hone::trace
