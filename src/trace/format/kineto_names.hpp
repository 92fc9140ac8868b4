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
  HostKind host = HostKind::kOperator;      ///< of kHost
  DeviceKind device = DeviceKind::kKernel;  ///< of kDevice
};

/// The handling of a category; none when no year's writer is known to have used it.
const KinetoCategory* find_category(std::string_view category);

/// Iterations are told from other ranges, and calls of the driver from those of the runtime, by their names.
HostKind refine_kind(HostKind kind, std::string_view name);

/// The argument by which our writer distinguishes kinds that have no category of their own.
constexpr std::string_view kKindArgument = "hone kind";
/// Its value; empty for kinds with a category or name of their own.
std::string_view kind_argument(HostKind kind);
/// The kind of that value; none when it is no value of ours.
const HostKind* find_kind_argument(std::string_view value);

/// "Stream Wait Event" and the like.
const SyncKind* find_sync_kind(std::string_view name);

/// Direction and memory of "Memcpy HtoD (Pinned -> Device)" and "Memset (Device)".
Transfer parse_transfer_name(std::string_view name);

/// The number in "GPU 3 Counters", or the process id itself.
int64_t device_of_counters(const KinetoPlace& process);

/// "python" of "thread 42 (python)"; nothing of "thread 42".
std::string plain_thread_name(std::string_view label);

}  // namespace hone::trace
