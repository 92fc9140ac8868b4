// Translates CUPTI's enumerations, which are numbers in raw records, to the names in a trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trace/trace.hpp"

namespace hone::trace {

/// "void gemm<float>(int)" for "_Z4gemmIfEvi"; a text that is no mangled name is returned unchanged.
std::string demangled(const std::string& name);
/// `kind` is a CUpti_ActivityMemoryKind.
MemoryKind memory_kind(uint32_t kind);
/// `kind` is a CUpti_ActivityMemcpyKind.
CopyDirection copy_direction(uint32_t kind);
/// `kind` is a CUpti_ActivityOverheadKind; the names are those of Kineto.
const char* overhead_name(uint32_t kind);
/// `flag` is a CUpti_ActivityStreamFlag.
StreamKind stream_kind(uint32_t flag);
/// `type` is a CUpti_ActivitySynchronizationType.
std::optional<SyncKind> sync_kind(uint32_t type);

}  // namespace hone::trace
