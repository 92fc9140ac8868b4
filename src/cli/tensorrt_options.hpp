// Options that only the backend tensorrt understands.
#pragma once

#include <map>
#include <string>

#include "cli/command.hpp"

namespace hone::cli {

/// Adds --tensorrt-level and similar options; given values go into `settings`, in the form of
/// backend::LoadOptions.
void add_tensorrt_options(CLI::App& command, std::map<std::string, std::string>& settings);

}  // namespace hone::cli
