// See kineto_names.hpp.
#include "trace/format/kineto_names.hpp"

#include "trace/format/api_calls.hpp"
#include "trace/format/name_table.hpp"

namespace hone::trace {
namespace {

constexpr KinetoCategory host(HostKind kind) { return {KinetoUse::kHost, kind}; }
constexpr KinetoCategory device(DeviceKind kind) { return {KinetoUse::kDevice, HostKind::kOperator, kind}; }

constexpr NameTable kCategories{std::to_array<NamedValue<KinetoCategory>>({
    {"cpu_op", host(HostKind::kOperator)},
    {"operator", host(HostKind::kOperator)},
    {"user_annotation", host(HostKind::kRange)},
    {"python", host(HostKind::kPython)},
    {"python_function", host(HostKind::kPython)},
    {"overhead", host(HostKind::kOverhead)},
    {"runtime", host(HostKind::kRuntimeApi)},
    {"cuda_runtime", host(HostKind::kRuntimeApi)},
    {"xpu_runtime", host(HostKind::kRuntimeApi)},
    {"mtia_runtime", host(HostKind::kRuntimeApi)},
    {"glow_runtime", host(HostKind::kRuntimeApi)},
    {"privateuse1_runtime", host(HostKind::kRuntimeApi)},
    {"hpu_op", host(HostKind::kRuntimeApi)},
    {"cuda_driver", host(HostKind::kDriverApi)},
    {"xpu_driver", host(HostKind::kDriverApi)},
    {"privateuse1_driver", host(HostKind::kDriverApi)},
    {"kernel", device(DeviceKind::kKernel)},
    {"memcpy", device(DeviceKind::kCopy)},
    {"gpu_memcpy", device(DeviceKind::kCopy)},
    {"memset", device(DeviceKind::kSet)},
    {"gpu_memset", device(DeviceKind::kSet)},
    {"cuda_sync", {KinetoUse::kSynchronization}},
    {"cuda_event", {KinetoUse::kEventRecord}},
    // The span of the whole recording, and ranges drawn over the kernels launched in them, one for each
    // stream: the ranges of the host hold the same information.
    {"trace", {KinetoUse::kSkip}},
    {"gpu_user_annotation", {KinetoUse::kSkip}},
})};

constexpr std::string_view kEngineStep = "engine step";
constexpr std::string_view kHostFunction = "host function";
constexpr std::string_view kThreadApi = "threads api";

constexpr NameTable kKinds{std::to_array<NamedValue<HostKind>>({
    {kEngineStep, HostKind::kEngineStep},
    {kHostFunction, HostKind::kHostFunction},
    {kThreadApi, HostKind::kThreadApi},
})};

constexpr NameTable kSyncKinds{std::to_array<NamedValue<SyncKind>>({
    {"event sync", SyncKind::kEventSynchronize},
    {"stream wait event", SyncKind::kStreamWaitEvent},
    {"stream sync", SyncKind::kStreamSynchronize},
    {"context sync", SyncKind::kContextSynchronize},
})};

constexpr NameTable kDirections{std::to_array<NamedValue<CopyDirection>>({
    {"htod", CopyDirection::kHostToDevice},
    {"htoa", CopyDirection::kHostToDevice},
    {"dtoh", CopyDirection::kDeviceToHost},
    {"atoh", CopyDirection::kDeviceToHost},
    {"dtod", CopyDirection::kDeviceToDevice},
    {"dtoa", CopyDirection::kDeviceToDevice},
    {"atod", CopyDirection::kDeviceToDevice},
    {"atoa", CopyDirection::kDeviceToDevice},
    {"htoh", CopyDirection::kHostToHost},
    {"ptop", CopyDirection::kPeerToPeer},
})};

constexpr NameTable kMemoryKinds{std::to_array<NamedValue<MemoryKind>>({
    {"pageable", MemoryKind::kPageable},
    {"pinned", MemoryKind::kPinned},
    {"device", MemoryKind::kDevice},
    {"device static", MemoryKind::kDevice},
    {"array", MemoryKind::kArray},
    {"managed", MemoryKind::kManaged},
    {"managed static", MemoryKind::kManaged},
})};

template <class Value, size_t kCount>
Value find_or(const NameTable<Value, kCount>& table, std::string_view name, Value otherwise) {
  const Value* found = table.find(name);
  return found == nullptr ? otherwise : *found;
}

std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
  const size_t begin = text.find(before);
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin + before.size());
  return text.substr(0, text.find(after));
}

}  // namespace

const KinetoCategory* find_category(std::string_view category) { return kCategories.find(category); }

HostKind refine_kind(HostKind kind, std::string_view name) {
  if ((kind == HostKind::kOperator || kind == HostKind::kRange) && name.starts_with("ProfilerStep#"))
    return HostKind::kStep;
  // Our writer and some others list calls of the driver as calls of the runtime.
  return kind == HostKind::kRuntimeApi ? api_kind(name) : kind;
}

std::string_view kind_argument(HostKind kind) {
  switch (kind) {
    case HostKind::kEngineStep: return kEngineStep;
    case HostKind::kHostFunction: return kHostFunction;
    case HostKind::kThreadApi: return kThreadApi;
    default: return {};
  }
}

const HostKind* find_kind_argument(std::string_view value) { return kKinds.find(value); }

const SyncKind* find_sync_kind(std::string_view name) { return kSyncKinds.find(name); }

Transfer parse_transfer_name(std::string_view name) {
  Transfer transfer;
  transfer.direction = find_or(kDirections, between(name, "Memcpy ", " "), CopyDirection::kUnknown);
  if (name.find(" -> ") == std::string_view::npos) {
    transfer.destination = find_or(kMemoryKinds, between(name, "(", ")"), MemoryKind::kUnknown);
    return transfer;
  }
  transfer.source = find_or(kMemoryKinds, between(name, "(", " -> "), MemoryKind::kUnknown);
  transfer.destination = find_or(kMemoryKinds, between(name, " -> ", ")"), MemoryKind::kUnknown);
  return transfer;
}

int64_t device_of_counters(const KinetoPlace& process) {
  if (process.text.empty()) return process.number.value_or(0);
  const std::string_view text = between(process.text, "GPU ", " ");
  int64_t device = 0;
  for (const char c : text.substr(0, 9)) {
    if (c < '0' || c > '9') return 0;
    device = device * 10 + (c - '0');
  }
  return device;
}

std::string plain_thread_name(std::string_view label) {
  const bool bracketed = label.starts_with("thread ") && label.ends_with(')');
  const size_t open = label.find(" (");
  if (!bracketed || open == std::string_view::npos) {
    const bool number_alone =
        label.starts_with("thread ") && label.find_first_not_of("-0123456789", 7) == label.npos;
    return number_alone ? "" : std::string(label);
  }
  return std::string(label.substr(open + 2, label.size() - open - 3));
}

}  // namespace hone::trace
