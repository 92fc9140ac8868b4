// See gpu_log.hpp.
#include "record/gpu_log.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace hone::record {
namespace {

constexpr unsigned kMostGpus = 64;
constexpr double kMega = 1e6;

class Counters {
 public:
  Counters(trace::Trace& trace, int32_t device) : trace_(trace), device_(device) {}

  template <class Value>
  void add(trace::Time time, const char* name, const char* unit, std::optional<Value> value,
           double scale = 1) {
    if (!value) return;
    const trace::StringId id = trace_.strings.intern(name);
    trace_.counter_units.try_emplace(id, unit);
    trace_.counter_samples.push_back({time, id, device_, static_cast<double>(*value) * scale});
  }

 private:
  trace::Trace& trace_;
  int32_t device_;
};

void add_sample(Counters counters, trace::Time time, const system::GpuSample& sample) {
  counters.add(time, "SM clock", "MHz", sample.sm_mhz);
  counters.add(time, "Memory clock", "MHz", sample.memory_mhz);
  counters.add(time, "Power", "W", sample.power_w);
  counters.add(time, "Temperature", "C", sample.temperature_c);
  counters.add(time, "Memory used", "MB", sample.memory_used_bytes, 1 / kMega);
}

}  // namespace

GpuLog::GpuLog(const std::string& library, std::chrono::milliseconds interval) {
  try {
    for (unsigned index = 0; index < kMostGpus; ++index) {
      auto nvml = std::make_unique<system::Nvml>(library, index);
      const std::string uuid = nvml->identity().uuid;
      gpus_.push_back({std::move(nvml), uuid, {}});
    }
  } catch (const Error& error) {
    problem_ = error.what();  // the index after the last GPU also ends the loop here
  }
  if (!gpus_.empty())
    thread_ = std::jthread([this, interval](const std::stop_token& stop) { ask(stop, interval); });
}

void GpuLog::ask(const std::stop_token& stop, std::chrono::milliseconds interval) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  do {
    for (Gpu& gpu : gpus_) {
      const system::GpuSample sample = gpu.nvml->sample();
      gpu.samples.emplace_back(base::monotonic_ns(), sample);
    }
  } while (!wake.wait_for(lock, stop, interval, [&] { return stop.stop_requested(); }));
}

void GpuLog::add_to(trace::Trace& trace) {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  for (const trace::DeviceProperties& device : trace.devices) {
    const auto found = std::find_if(gpus_.begin(), gpus_.end(),
                                    [&](const Gpu& gpu) { return gpu.uuid == trace.text(device.uuid); });
    if (found == gpus_.end()) {
      trace.doubt(trace::Severity::kNote, "counters",
                  "no clocks, power and temperature: " +
                      (gpus_.empty() ? problem_ : "NVML does not know the GPU that was used"),
                  0);
      continue;
    }
    for (const auto& [time, sample] : found->samples) add_sample({trace, device.id}, time, sample);
  }
  std::stable_sort(
      trace.counter_samples.begin(), trace.counter_samples.end(),
      [](const trace::CounterSample& a, const trace::CounterSample& b) { return a.time < b.time; });
}

}  // namespace hone::record
