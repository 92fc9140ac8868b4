// The names of copies and memsets in a trace, for all recorders: those of Kineto.
#pragma once

#include <string>

#include "trace/trace.hpp"

namespace hone::trace {

/// "Pinned".
const char* memory_kind_name(MemoryKind kind);
/// "Memcpy HtoD (Pinned -> Device)" or "Memset (Device)".
std::string transfer_name(DeviceKind kind, const Transfer& transfer);

}  // namespace hone::trace
