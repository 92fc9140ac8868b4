// The meaning of the enumerations of Nsight Systems.
#pragma once

#include "trace/format/nsys_import.hpp"
#include "trace/trace.hpp"

namespace hone::trace {

/// The direction for a value of `ENUM_CUDA_MEMCPY_OPER`: by name if the file has names, else by number, as in
/// CUPTI's CUpti_ActivityMemcpyKind.
CopyDirection nsys_direction(NsysImport& nsys, int64_t id);
/// The kind for a value of `ENUM_CUDA_MEM_KIND`, whose numbers differ from CUPTI's CUpti_ActivityMemoryKind.
MemoryKind nsys_memory_kind(NsysImport& nsys, int64_t id);

}  // namespace hone::trace
