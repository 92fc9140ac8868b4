// The peak rates of this machine's CPU: measured once, then stored in the cache folder.
#pragma once

#include "trace/cpu_roof.hpp"

namespace hone::record {

/// The rates for this number of threads. They are measured if the cache has none for this CPU, and are not
/// stored if other processes used the CPU meanwhile.
trace::CpuRoof cpu_roof(int threads);

}  // namespace hone::record
