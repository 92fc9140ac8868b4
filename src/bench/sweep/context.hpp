// The context of a sweep: the facts about the machine and the software that explain its numbers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace hone::bench {

/// CPU model, instruction sets, cores, frequency and governor (if readable), memory, kernel, load average,
/// hone's version and commit, command line, date. Unknown values are null.
Json describe_context(const std::vector<std::string>& command_line);

}  // namespace hone::bench
