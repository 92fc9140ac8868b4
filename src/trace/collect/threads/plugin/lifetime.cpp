// Records when threads are created, begin, end and are joined.
#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "trace/collect/threads/plugin/libc.hpp"
#include "trace/collect/threads/plugin/recorder.hpp"
#include "trace/collect/threads/plugin/waiting.hpp"

namespace hone::trace::threads {
namespace {

const void* object_of(pthread_t thread) { return reinterpret_cast<const void*>(thread); }

/// The function that a new thread is to run. These objects lie in a fixed table, since allocators start
/// threads too.
struct Beginning {
  std::atomic<bool> taken = false;
  void* (*run)(void*) = nullptr;
  void* argument = nullptr;
};

/// Threads that were created and have not begun yet.
constinit std::array<Beginning, 1024> beginnings{};
constinit std::atomic<uint32_t> next_beginning = 0;

/// Null if all entries are taken.
Beginning* take_beginning() {
  for (size_t tries = 0; tries < beginnings.size(); ++tries) {
    Beginning& row = beginnings[next_beginning++ % beginnings.size()];
    if (!row.taken.exchange(true, std::memory_order_acquire)) return &row;
  }
  return nullptr;
}

/// Its destructor runs at the end of a thread, whatever ends it.
constinit pthread_key_t end_key = 0;
constinit bool has_end_key = false;

void end_thread(void*) { record_now(ThreadFunction::kExit, object_of(pthread_self())); }

__attribute__((constructor)) void make_end_key() {
  has_end_key = pthread_key_create(&end_key, end_thread) == 0;
}

void* run_thread(void* argument) {
  auto* row = static_cast<Beginning*>(argument);
  auto* const run = row->run;
  void* const what = row->argument;
  row->taken.store(false, std::memory_order_release);
  record_now(ThreadFunction::kStart, object_of(pthread_self()));
  if (has_end_key) pthread_setspecific(end_key, &end_key);
  return run(what);
}

}  // namespace
}  // namespace hone::trace::threads

// NOLINTBEGIN(readability-identifier-naming): libc's names
#define HONE_EXPORT extern "C" __attribute__((visibility("default")))

HONE_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                               void* argument) noexcept {
  using namespace hone::trace::threads;
  Beginning* row = is_of_program(__builtin_return_address(0)) ? take_beginning() : nullptr;
  if (row == nullptr) return libc().create(thread, attributes, run, argument);
  row->run = run;
  row->argument = argument;
  const uint64_t start = now();
  const int result = libc().create(thread, attributes, run_thread, row);
  if (result != 0) row->taken.store(false, std::memory_order_release);
  record(ThreadFunction::kCreate, result == 0 ? object_of(*thread) : nullptr, start, now(), result);
  return result;
}

HONE_EXPORT int pthread_join(pthread_t thread, void** value) {
  using namespace hone::trace::threads;
  if (!is_of_program(__builtin_return_address(0))) return libc().join(thread, value);
  return wait_and_record(ThreadFunction::kJoin, object_of(thread),
                         [=] { return libc().join(thread, value); });
}
// NOLINTEND(readability-identifier-naming)
