// See nsys_names.hpp.
#include "trace/format/nsys_names.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace hone::trace {
namespace {

/// CUpti_ActivityMemcpyKind, from 0; A is a CUDA array. Nsight Systems adds copies of managed memory.
constexpr std::array<std::string_view, 14> kDirections{"unknown", "htod", "dtoh", "htoa", "atoh",
                                                       "atoa",    "atod", "dtoa", "dtod", "htoh",
                                                       "ptop",    "htod", "dtoh", "dtod"};
/// ENUM_CUDA_MEM_KIND, from 0.
constexpr std::array<MemoryKind, 7> kMemoryKinds{
    MemoryKind::kPageable, MemoryKind::kPinned, MemoryKind::kDevice, MemoryKind::kArray,
    MemoryKind::kManaged,  MemoryKind::kDevice, MemoryKind::kManaged};

CopyDirection direction_of(std::string_view name) {
  if (name.ends_with("ptop")) return CopyDirection::kPeerToPeer;
  if (name.ends_with("htoh")) return CopyDirection::kHostToHost;
  if (name.ends_with("htod") || name.ends_with("htoa")) return CopyDirection::kHostToDevice;
  if (name.ends_with("dtoh") || name.ends_with("atoh")) return CopyDirection::kDeviceToHost;
  for (const char* inside : {"dtod", "dtoa", "atod", "atoa"}) {
    if (name.ends_with(inside)) return CopyDirection::kDeviceToDevice;
  }
  return CopyDirection::kUnknown;
}

MemoryKind memory_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, MemoryKind>, 5> kNames{
      {{"pageable", MemoryKind::kPageable},
       {"pinned", MemoryKind::kPinned},
       {"device", MemoryKind::kDevice},
       {"array", MemoryKind::kArray},
       {"managed", MemoryKind::kManaged}}};
  for (const auto& [part, kind] : kNames) {
    if (name.find(part) != std::string_view::npos) return kind;
  }
  return MemoryKind::kUnknown;
}

}  // namespace

CopyDirection nsys_direction(NsysImport& nsys, int64_t id) {
  const std::string name = nsys.enumerator("ENUM_CUDA_MEMCPY_OPER", id);
  if (!name.empty()) return direction_of(name);
  const bool known = id >= 0 && id < static_cast<int64_t>(kDirections.size());
  return known ? direction_of(kDirections[static_cast<size_t>(id)]) : CopyDirection::kUnknown;
}

MemoryKind nsys_memory_kind(NsysImport& nsys, int64_t id) {
  // CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC and the like: the common prefix of all names is ignored.
  const std::string name = nsys.enumerator("ENUM_CUDA_MEM_KIND", id);
  if (!name.empty()) return memory_of(name);
  const bool known = id >= 0 && id < static_cast<int64_t>(kMemoryKinds.size());
  return known ? kMemoryKinds[static_cast<size_t>(id)] : MemoryKind::kUnknown;
}

}  // namespace hone::trace
