// See transfer_names.hpp.
#include "trace/transfer_names.hpp"

#include <fmt/format.h>

namespace hone::trace {
namespace {

const char* direction_name(CopyDirection direction) {
  switch (direction) {
    case CopyDirection::kHostToDevice: return "HtoD";
    case CopyDirection::kDeviceToHost: return "DtoH";
    case CopyDirection::kDeviceToDevice: return "DtoD";
    case CopyDirection::kHostToHost: return "HtoH";
    case CopyDirection::kPeerToPeer: return "PtoP";
    case CopyDirection::kUnknown: break;
  }
  return "Unknown";
}

}  // namespace

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

std::string transfer_name(DeviceKind kind, const Transfer& transfer) {
  if (kind == DeviceKind::kSet) return fmt::format("Memset ({})", memory_kind_name(transfer.destination));
  return fmt::format("Memcpy {} ({} -> {})", direction_name(transfer.direction),
                     memory_kind_name(transfer.source), memory_kind_name(transfer.destination));
}

}  // namespace hone::trace
