// See raw_names.hpp.
#include "trace/collect/raw_names.hpp"

#include <cxxabi.h>

#include <cstdlib>

namespace hone::trace {

std::string demangled(const std::string& name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  if (status != 0 || text == nullptr) return name;
  std::string result = text;
  std::free(text);
  return result;
}

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

CopyDirection copy_direction(uint32_t kind) {
  switch (kind) {
    case 1:
    case 3: return CopyDirection::kHostToDevice;  // to memory, to an array
    case 2:
    case 4: return CopyDirection::kDeviceToHost;
    case 5:
    case 6:
    case 7:
    case 8: return CopyDirection::kDeviceToDevice;
    case 9: return CopyDirection::kHostToHost;
    case 10: return CopyDirection::kPeerToPeer;
    default: return CopyDirection::kUnknown;
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
