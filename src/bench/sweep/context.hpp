// The context of a sweep: everything about the machine and the software that explains its numbers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace hone::bench {

/// CPU model, instruction sets, cores, frequency and governor where readable, memory, kernel, load
/// average, hone's version and commit, command line, date. Unknown figures are null.
Json describe_context(const std::vector<std::string>& command_line);

}  // namespace hone::bench
