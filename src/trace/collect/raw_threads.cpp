// See raw_threads.hpp.
#include "trace/collect/raw_threads.hpp"

#include <array>
#include <cerrno>
#include <string_view>

namespace hone::trace {
namespace {

struct Meaning {
  std::string_view call;  ///< empty for operations that do not block and take no time
  ThreadOperation operation;
};

/// By raw::ThreadFunction.
constexpr std::array<Meaning, 16> kMeanings = {{{"", ThreadOperation::kStart},
                                                {"", ThreadOperation::kExit},
                                                {"pthread_create", ThreadOperation::kCreate},
                                                {"pthread_join", ThreadOperation::kJoin},
                                                {"pthread_mutex_lock", ThreadOperation::kLock},
                                                {"pthread_mutex_timedlock", ThreadOperation::kLock},
                                                {"pthread_mutex_clocklock", ThreadOperation::kLock},
                                                {"pthread_cond_wait", ThreadOperation::kConditionWait},
                                                {"pthread_cond_timedwait", ThreadOperation::kConditionWait},
                                                {"pthread_cond_clockwait", ThreadOperation::kConditionWait},
                                                {"", ThreadOperation::kSignal},
                                                {"", ThreadOperation::kSignal},
                                                {"sem_wait", ThreadOperation::kSemaphoreWait},
                                                {"sem_timedwait", ThreadOperation::kSemaphoreWait},
                                                {"sem_clockwait", ThreadOperation::kSemaphoreWait},
                                                {"", ThreadOperation::kPost}}};

}  // namespace

void add_thread_call(Trace& trace, const raw::ThreadCall& from, int32_t thread, int32_t unlocked_by) {
  const auto function = static_cast<size_t>(from.function);
  if (function >= kMeanings.size())
    return trace.doubt(Severity::kLoss, "threads", "calls are of a kind that this program does not know");
  const Meaning& meaning = kMeanings[function];
  const auto start = static_cast<Time>(from.start);
  const auto end = static_cast<Time>(from.end);
  if (!meaning.call.empty()) {
    HostEvent event{start, end, HostKind::kThreadApi, trace.strings.intern(meaning.call), thread};
    event.result = from.result;
    trace.host_events.push_back(event);
  }
  // A wait that timed out was woken by no thread. A robust mutex is locked even if its last owner died.
  if (from.result != 0 && from.result != EOWNERDEAD) return;
  const auto object = static_cast<int64_t>(from.object);
  if (unlocked_by >= 0) {
    const auto time = static_cast<Time>(from.unlocked);
    trace.thread_syncs.push_back({time, time, ThreadOperation::kUnlock, unlocked_by, object});
  }
  // A thread may run before the call that created it returns.
  const bool creates = meaning.operation == ThreadOperation::kCreate;
  trace.thread_syncs.push_back({start, creates ? start : end, meaning.operation, thread, object});
}

}  // namespace hone::trace
