// Options that only the backend tensorrt understands.
#pragma once

#include <map>
#include <string>

#include "cli/command.hpp"

namespace hone::cli {

/// --tensorrt-level and its kin; what is given goes into `settings`, as backend::LoadOptions has them.
void add_tensorrt_options(CLI::App& command, std::map<std::string, std::string>& settings);

}  // namespace hone::cli
