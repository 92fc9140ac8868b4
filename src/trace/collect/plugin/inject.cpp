// libhone-inject.so: the CUDA driver loads it into a process whose CUDA_INJECTION64_PATH names it, and NVTX
// loads it too. Apart from recording, the library must not change the behaviour of the process.
#include "trace/collect/plugin/inject.hpp"

#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <string>

#include "trace/collect/plugin/activity.hpp"
#include "trace/collect/plugin/capture.hpp"
#include "trace/collect/plugin/clock.hpp"
#include "trace/collect/plugin/counters.hpp"
#include "trace/collect/plugin/cupti_library.hpp"
#include "trace/collect/plugin/graph_callbacks.hpp"
#include "trace/collect/plugin/kernel_metrics.hpp"
#include "trace/collect/plugin/ranges.hpp"
#include "trace/collect/plugin/raw_writer.hpp"

/// Defined in libhone-threads.so; null if that is not preloaded.
// NOLINTNEXTLINE(readability-identifier-naming): found by its name
extern "C" __attribute__((weak)) void hone_threads_end();

namespace hone::trace::inject {
namespace {

constexpr uint32_t kLoss = 2;

bool recording = false;

std::string program_name() {
  std::string path(4096, '\0');
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  path.resize(length < 0 ? 0 : static_cast<size_t>(length));
  return path;
}

raw::Process process_record(uint32_t cupti_version) {
  raw::Process record;
  record.process = static_cast<uint32_t>(getpid());
  record.name = text_id(program_name());
  record.cupti_version = cupti_version;
  record.clock_ns = clock_now();
  record.utc_ns = nanoseconds_of(CLOCK_REALTIME);
  return record;
}

void record_process(uint32_t cupti_version) {
  raw::Process record = process_record(cupti_version);
  record.announces_end = 1;
  Batch batch;
  batch.add(record);
  append(batch);
}

void finish() {
  if (!recording || is_abandoned()) return;
  stop_counters();
  finish_kernel_metrics();
  if (hone_threads_end != nullptr) hone_threads_end();
  flush_activities();
  flush_ranges();
  Batch batch;
  batch.add(raw::End{});
  append(batch);
}

std::string record_activities() {
  start_counters();
  const std::string problem = subscribe();
  if (!problem.empty()) return problem;
  const char* driver_api = std::getenv("HONE_TRACE_DRIVER_API");
  return start_activities(driver_api == nullptr || *driver_api != '0');
}

std::string measure_kernels() {
  const std::string problem = start_kernel_metrics();
  return problem.empty() ? subscribe() : problem;
}

/// A process that was forked from a recorded one reports this in its own file when it begins to use the GPU.
void report_unrecorded_child() {
  if (!recording || !is_abandoned() || !open_writer(std::getenv("HONE_TRACE_FOLDER"))) return;
  Batch batch;
  batch.add(process_record(0));
  append(batch);
  report_loss(kLoss, "collector",
              "process " + std::to_string(getpid()) +
                  " was forked from one that was being recorded, so nothing of it was; processes that are "
                  "started anew (exec, spawn) are",
              0);
}

}  // namespace

bool start_recording() {
  static std::once_flag once;
  std::call_once(once, [] {
    const char* folder = std::getenv("HONE_TRACE_FOLDER");
    if (folder == nullptr || !open_writer(folder)) return;
    recording = true;
    read_capture_rules();
    record_process(0);
    std::atexit(finish);
    // Without exec, a child shares the file and has none of the threads that CUPTI needs.
    pthread_atfork(nullptr, nullptr, abandon_writer);
  });
  return recording && !is_abandoned();
}

}  // namespace hone::trace::inject

/// The driver calls this function during cuInit, possibly more than once.
// NOLINTNEXTLINE(readability-identifier-naming): the driver looks for this name
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  using namespace hone::trace::inject;
  static std::once_flag once;
  std::call_once(once, [] {
    if (!start_recording()) return report_unrecorded_child();
    std::string problem = load_cupti();
    if (problem.empty()) {
      uint32_t version = 0;
      cupti().cuptiGetVersion(&version);
      record_process(version);
      problem = are_metrics_wanted() ? measure_kernels() : record_activities();
    }
    if (!problem.empty()) report_loss(kLoss, "collector", problem + "; nothing of the GPU was recorded", 0);
  });
  return 1;
}
