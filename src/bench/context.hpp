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

/// Cores this process may use (its affinity mask).
int usable_cores();

/// Their numbers; none where they are not known.
std::vector<int> usable_core_numbers();

/// The CPU's name as /proc/cpuinfo has it; "unknown" when it does not say.
std::string cpu_name();

}  // namespace hone::bench
