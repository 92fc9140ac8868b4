// See recorder.hpp.
#include "trace/collect/threads/plugin/recorder.hpp"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "trace/collect/plugin/clock.hpp"
#include "trace/collect/threads/plugin/file.hpp"
#include "trace/collect/threads/plugin/libc.hpp"
#include "trace/collect/threads/plugin/waiters.hpp"

namespace hone::trace::threads {
namespace {

constinit std::atomic<bool> recording = false;

/// State for writing, one for each thread; a signal may interrupt the thread while it writes.
struct Writing {
  Chunk chunk;
  bool busy = false;
};
thread_local constinit Writing writing;

void put_record(const raw::ThreadCall& call) {
  Chunk& chunk = writing.chunk;
  if (chunk.next == chunk.end) chunk = take_chunk();
  if (chunk.next == chunk.end) return;
  // The header is written last: without it, the record does not exist.
  constexpr size_t kHeader = sizeof(raw::Header);
  auto* place = reinterpret_cast<char*>(chunk.next++);
  std::memcpy(place + kHeader, reinterpret_cast<const char*>(&call) + kHeader, sizeof call - kHeader);
  std::atomic_signal_fence(std::memory_order_release);
  std::memcpy(place, &call.header, kHeader);
}

/// Does not change errno.
void write_record(const raw::ThreadCall& call) {
  if (!recording.load(std::memory_order_relaxed) || writing.busy) return;
  const int error = errno;
  writing.busy = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  put_record(call);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  writing.busy = false;
  errno = error;
}

raw::ThreadCall call_of(ThreadFunction function, const void* object, uint64_t start, uint64_t end,
                        int result) {
  raw::ThreadCall call;
  call.function = function;
  call.start = start;
  call.end = end;
  call.object = reinterpret_cast<uintptr_t>(object);
  call.thread = this_thread();
  call.result = result;
  return call;
}

/// Recognizes the profiler's libraries, whose threads and locks are no part of the program.
bool is_profilers(const char* library) {
  return std::strstr(library, "libcupti") != nullptr || std::strstr(library, "libhone-inject") != nullptr;
}

/// Called in a child without exec, which would write into the file of its parent.
void stop() { recording.store(false); }

__attribute__((constructor)) void begin() {
  libc();
  if (!prepare_file(now())) return;
  pthread_atfork(nullptr, nullptr, stop);
  recording.store(true);
}

}  // namespace

uint64_t now() { return inject::clock_now(); }

bool is_of_program(const void* caller) {
  if (!recording.load(std::memory_order_relaxed)) return false;
  // Takes no lock, unlike dladdr.
  dl_find_object object{};
  if (_dl_find_object(const_cast<void*>(caller), &object) != 0 || object.dlfo_link_map == nullptr)
    return true;
  return !is_profilers(object.dlfo_link_map->l_name);
}

void record(ThreadFunction function, const void* object, uint64_t start, uint64_t end, int result) {
  write_record(call_of(function, object, start, end, result));
}

void record_lock(ThreadFunction function, const void* mutex, uint64_t start, uint64_t end, int result) {
  raw::ThreadCall call = call_of(function, mutex, start, end, result);
  const Waiters& waiters = Waiters::of(mutex);
  if (result == 0 && waiters.mutex.load() == mutex) {
    call.unlocked = waiters.unlocked.load();
    call.unlocked_by = waiters.unlocked_by.load();
  }
  write_record(call);
}

void note_unlock(const void* mutex) {
  Waiters& waiters = Waiters::of(mutex);
  // The mutex orders these; only the last must not come before the others.
  waiters.mutex.store(nullptr, std::memory_order_relaxed);
  waiters.unlocked.store(now(), std::memory_order_relaxed);
  waiters.unlocked_by.store(this_thread(), std::memory_order_relaxed);
  waiters.mutex.store(mutex, std::memory_order_release);
}

}  // namespace hone::trace::threads

/// Marks the end of the program itself: libhone-inject.so calls this before it writes the remaining records,
/// which takes time; without libhone-inject.so, the process end calls it.
// NOLINTNEXTLINE(readability-identifier-naming): found by its name
extern "C" __attribute__((visibility("default"), destructor)) void hone_threads_end() {
  using namespace hone::trace::threads;
  if (has_file()) record_now(ThreadFunction::kExit, reinterpret_cast<const void*>(pthread_self()));
  stop();
}
