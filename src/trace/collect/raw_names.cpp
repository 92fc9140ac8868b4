// See raw_names.hpp.
#include "trace/collect/raw_names.hpp"

namespace hone::trace {

MemoryKind memory_kind(uint32_t kind) {
  switch (kind) {
    case 1: return MemoryKind::kPageable;
    case 2: return MemoryKind::kPinned;
    case 3: return MemoryKind::kDevice;
    case 4: return MemoryKind::kArray;
    case 5: return MemoryKind::kManaged;
    case 6: return MemoryKind::kDevice;  // a static variable of a module
    case 7: return MemoryKind::kManaged;
    default: return MemoryKind::kUnknown;
  }
}

const char* memory_kind_name(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kPageable: return "Pageable";
    case MemoryKind::kPinned: return "Pinned";
    case MemoryKind::kDevice: return "Device";
    case MemoryKind::kArray: return "Array";
    case MemoryKind::kManaged: return "Managed";
    case MemoryKind::kUnknown: break;
  }
  return "Unknown";
}

CopyKind copy_kind(uint32_t kind) {
  switch (kind) {
    case 1: return {"HtoD", CopyDirection::kHostToDevice};
    case 2: return {"DtoH", CopyDirection::kDeviceToHost};
    case 3: return {"HtoA", CopyDirection::kHostToDevice};
    case 4: return {"AtoH", CopyDirection::kDeviceToHost};
    case 5: return {"AtoA", CopyDirection::kDeviceToDevice};
    case 6: return {"AtoD", CopyDirection::kDeviceToDevice};
    case 7: return {"DtoA", CopyDirection::kDeviceToDevice};
    case 8: return {"DtoD", CopyDirection::kDeviceToDevice};
    case 9: return {"HtoH", CopyDirection::kHostToHost};
    case 10: return {"PtoP", CopyDirection::kPeerToPeer};
    default: return {"", CopyDirection::kUnknown};
  }
}

const char* overhead_name(uint32_t kind) {
  switch (kind) {
    case 1: return "Driver Compiler";
    case 1U << 16: return "Buffer Flush";
    case 2U << 16: return "Instrumentation";
    case 3U << 16: return "Resource";
    case 4U << 16: return "Runtime Triggered Module Loading";
    case 5U << 16: return "Lazy Function Loading";
    case 6U << 16: return "Command Buffer Full";
    case 7U << 16: return "Activity Buffer Request";
    case 8U << 16: return "UVM Activity Init";
    default: return "Unknown Overhead";
  }
}

StreamKind stream_kind(uint32_t flag) {
  switch (flag) {
    case 1: return StreamKind::kBlocking;
    case 2: return StreamKind::kNonBlocking;
    case 3: return StreamKind::kNull;
    default: return StreamKind::kUnknown;
  }
}

std::optional<SyncKind> sync_kind(uint32_t type) {
  switch (type) {
    case 1: return SyncKind::kEventSynchronize;
    case 2: return SyncKind::kStreamWaitEvent;
    case 3: return SyncKind::kStreamSynchronize;
    case 4: return SyncKind::kContextSynchronize;
    default: return std::nullopt;
  }
}

}  // namespace hone::trace
