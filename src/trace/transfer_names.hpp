// What copies and sets are called in a trace, whoever recorded them: as Kineto does.
#pragma once

#include <string>

#include "trace/trace.hpp"

namespace hone::trace {

/// "Pinned".
const char* memory_kind_name(MemoryKind kind);
/// "Memcpy HtoD (Pinned -> Device)" or "Memset (Device)".
std::string transfer_name(DeviceKind kind, const Transfer& transfer);

}  // namespace hone::trace
