// How a program gets libhone-inject.so, and where what it wrote is found.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace hone::trace {

/// The variables that make every CUDA process write what it does into `folder`, as NAME=VALUE. Environment
/// error when the collector was not built.
std::vector<std::string> injection_variables(const std::filesystem::path& folder, bool driver_api);

/// The command with these variables set for it.
std::vector<std::string> injected_command(const std::vector<std::string>& command,
                                          const std::filesystem::path& folder, bool driver_api);

/// The variable that puts libhone-threads.so before the thread functions of a program, beside what is
/// preloaded anyway. Environment error when it was not built or lies where it cannot be preloaded from.
std::string preload_variable();

/// The files in the folder, one a process and one more for its threads.
std::vector<std::filesystem::path> injected_files(const std::filesystem::path& folder);
/// How many processes wrote them.
size_t process_count(const std::vector<std::filesystem::path>& files);
/// All of them as one normalized trace.
Trace read_injected(const std::filesystem::path& folder);

}  // namespace hone::trace
