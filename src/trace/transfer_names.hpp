// The names of copies and sets in a trace, whoever recorded them: as Kineto's.
#pragma once

#include <string>

#include "trace/trace.hpp"

namespace hone::trace {

/// "Pinned".
const char* memory_kind_name(MemoryKind kind);
/// "Memcpy HtoD (Pinned -> Device)" or "Memset (Device)".
std::string transfer_name(DeviceKind kind, const Transfer& transfer);

}  // namespace hone::trace
