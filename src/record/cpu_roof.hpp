// The roof of this machine's CPU: measured once, then kept in the cache folder.
#pragma once

#include "trace/cpu_roof.hpp"

namespace hone::record {

/// The roof for this number of threads. Measured where the cache holds none for this CPU; that is not kept
/// where other processes used the CPU meanwhile.
trace::CpuRoof cpu_roof(int threads);

}  // namespace hone::record
