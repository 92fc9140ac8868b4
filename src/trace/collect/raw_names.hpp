// CUPTI's enumerations, as numbers in raw records, in the words of a trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trace/trace.hpp"

namespace hone::trace {

/// "void gemm<float>(int)" of "_Z4gemmIfEvi"; the text itself when it is no mangled name.
std::string demangled(const std::string& name);
/// CUpti_ActivityMemoryKind.
MemoryKind memory_kind(uint32_t kind);
/// CUpti_ActivityMemcpyKind.
CopyDirection copy_direction(uint32_t kind);
/// CUpti_ActivityOverheadKind, as Kineto names them.
const char* overhead_name(uint32_t kind);
/// CUpti_ActivityStreamFlag.
StreamKind stream_kind(uint32_t flag);
/// CUpti_ActivitySynchronizationType.
std::optional<SyncKind> sync_kind(uint32_t type);

}  // namespace hone::trace
