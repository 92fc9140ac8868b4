// The meaning of names in Kineto files: categories, copies, waits, threads.
#pragma once

#include <string>
#include <string_view>

#include "trace/format/kineto_event.hpp"
#include "trace/trace.hpp"

namespace hone::trace {

enum class KinetoUse { kHost, kDevice, kSynchronization, kEventRecord, kSkip };

struct KinetoCategory {
  KinetoUse use = KinetoUse::kSkip;
  HostKind host = HostKind::kOperator;      ///< for categories of the host
  DeviceKind device = DeviceKind::kKernel;  ///< for categories of the device
};

/// The handling of a category; null if no known writer has used the category.
const KinetoCategory* find_category(std::string_view category);

/// Distinguishes iterations from other ranges, and calls of the driver from those of the runtime, by their
/// names.
HostKind refine_kind(HostKind kind, std::string_view name);

/// The argument by which our writer distinguishes kinds that have no category of their own.
constexpr std::string_view kKindArgument = "hone kind";
/// The value of that argument; empty for kinds with a category or name of their own.
std::string_view kind_argument(HostKind kind);
/// The kind for that value; null if the value is not one of ours.
const HostKind* find_kind_argument(std::string_view value);

/// The kind for a name such as "Stream Wait Event".
const SyncKind* find_sync_kind(std::string_view name);

/// Direction and memory kinds in "Memcpy HtoD (Pinned -> Device)" and "Memset (Device)".
Transfer parse_transfer_name(std::string_view name);

/// The number in "GPU 3 Counters", or the process id itself.
int64_t device_of_counters(const KinetoPlace& process);

/// "python" for "thread 42 (python)"; empty for "thread 42".
std::string plain_thread_name(std::string_view label);

}  // namespace hone::trace
