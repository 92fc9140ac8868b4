// The machine's processor and the cores that this process may use.
#pragma once

#include <string>
#include <vector>

namespace hone::system {

/// Number of cores that this process may use (its affinity mask).
int usable_cores();

/// The numbers of these cores; empty if they are unknown.
std::vector<int> usable_core_numbers();

/// The CPU's name in /proc/cpuinfo; "unknown" if there is none.
std::string cpu_name();

/// The value of the first line of /proc/cpuinfo whose name begins with `name`; empty if there is none.
std::string cpuinfo_value(const std::string& name);

}  // namespace hone::system
