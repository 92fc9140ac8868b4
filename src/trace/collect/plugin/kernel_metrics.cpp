// See kernel_metrics.hpp. The profiler is started when a launch is called and stopped when the call ends, so
// that the values belong to this launch, whatever other threads do: they wait for each other here.
#include "trace/collect/plugin/kernel_metrics.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "trace/collect/plugin/capture.hpp"
#include "trace/collect/plugin/clock.hpp"
#include "trace/collect/plugin/cupti_library.hpp"
#include "trace/collect/plugin/launch_call.hpp"
#include "trace/collect/plugin/range_profiler.hpp"
#include "trace/collect/plugin/ranges.hpp"
#include "trace/collect/plugin/raw_writer.hpp"

namespace hone::trace::inject {
namespace {

constexpr uint32_t kLoss = 2;

struct Shared {
  std::vector<std::string> metrics;
  std::string only_while;  ///< path of a file; empty: measure always
  std::atomic<bool> failed = false;
  std::atomic<int64_t> graph_launches = 0;
  std::mutex mutex;  ///< held from the begin to the end of a measured launch
  CUcontext context = nullptr;
  std::unique_ptr<RangeProfiler> profiler;
  uint64_t launches = 0;
  int64_t without_values = 0;
};

/// Never destroyed: threads may launch kernels while the process exits.
Shared& shared() {
  static auto* instance = new Shared;
  return *instance;
}

/// The launch that this thread is making. A launch on several devices consists of other launches: only the
/// outer one counts.
struct Launching {
  int depth = 0;
  bool measured = false;
  uint32_t kernel = 0;
};
thread_local Launching launching;

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    if (end > at) parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

/// Returns false and ends the measurement if the action throws.
template <class Action>
bool works(const Action& action) {
  try {
    action();
    return true;
  } catch (const std::exception& error) {
    if (!shared().failed.exchange(true))
      report_loss(kLoss, "metrics", std::string(error.what()) + "; no kernel was measured from there on", 0);
    return false;
  }
}

bool is_time() {
  const Shared& s = shared();
  if (s.failed) return false;
  if (!s.only_while.empty() && access(s.only_while.c_str(), F_OK) != 0) return false;
  const uint64_t now = clock_now();
  return is_captured(now, now);
}

void attach(CUcontext context) {
  Shared& s = shared();
  if (s.profiler != nullptr && s.context == context) return;
  s.profiler.reset();  // CUPTI measures in one context at a time
  uint32_t device = 0;
  check(cupti().cuptiGetDeviceId(context, &device), "asking for the GPU of a context");
  s.profiler = std::make_unique<RangeProfiler>(context, device, s.metrics);
  s.context = context;
}

void begin(CUpti_CallbackId id, const CUpti_CallbackData& call) {
  Shared& s = shared();
  const char* name = call.symbolName == nullptr ? "unknown" : call.symbolName;
  launching.kernel = text_id(name);
  if (!is_kernel_wanted(name, launching.kernel) || is_being_captured(id, call)) return;
  s.mutex.lock();
  launching.measured = works([&] {
    attach(call.context);
    s.profiler->begin();
  });
  if (!launching.measured) s.mutex.unlock();
}

void write(const std::vector<double>& values) {
  Shared& s = shared();
  Batch batch;
  for (size_t i = 0; i < values.size(); ++i) {
    raw::KernelMetric record;
    record.kernel = launching.kernel;
    record.launch = s.launches;
    record.value = values[i];
    record.metric = text_id(s.profiler->metrics()[i]);
    record.range = innermost_range();
    record.device = s.profiler->device();
    batch.add(record);
  }
  append(batch);
  ++s.launches;
}

void end() {
  Shared& s = shared();
  works([&] {
    const std::vector<std::vector<double>> kernels = s.profiler->end();
    for (const std::vector<double>& values : kernels) write(values);
    if (kernels.empty()) ++s.without_values;
  });
  launching.measured = false;
  s.mutex.unlock();
}

}  // namespace

bool are_metrics_wanted() { return *variable("HONE_TRACE_METRICS") != '\0'; }

std::string start_kernel_metrics() {
  Shared& s = shared();
  s.metrics = split(variable("HONE_TRACE_METRICS"));
  s.only_while = variable("HONE_TRACE_METRICS_WHILE");
  return load_range_functions();
}

void on_launch(CUpti_CallbackId id, const CUpti_CallbackData& call) {
  if (is_graph_launch(id)) {
    if (call.callbackSite == CUPTI_API_ENTER && is_time()) ++shared().graph_launches;
    return;
  }
  if (call.callbackSite == CUPTI_API_ENTER) {
    if (launching.depth++ == 0 && is_time()) begin(id, call);
  } else if (launching.depth > 0 && --launching.depth == 0 && launching.measured) {
    end();
  }
}

void on_context_end(CUcontext context) {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  if (s.context == context) s.profiler.reset();
}

void finish_kernel_metrics() {
  Shared& s = shared();
  if (const int64_t graphs = s.graph_launches; graphs != 0)
    report_loss(kLoss, "metrics",
                "launches of CUDA graphs were not measured: only kernels that are launched by themselves are",
                graphs);
  const std::lock_guard lock(s.mutex);
  if (s.without_values != 0)
    report_loss(kLoss, "metrics", "kernels were launched of which CUPTI gave no values", s.without_values);
}

}  // namespace hone::trace::inject
