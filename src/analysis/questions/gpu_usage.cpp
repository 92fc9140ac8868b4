// See gpu_usage.hpp.
#include "analysis/questions/gpu_usage.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "analysis/questions/counters.hpp"
#include "analysis/questions/tensor_cores.hpp"
#include "analysis/schema/gpu_usage.hpp"
#include "trace/occupancy.hpp"

namespace hone::analysis {
namespace {

using trace::DeviceEvent;
using trace::DeviceKind;
using trace::KernelLaunch;
using trace::Trace;

constexpr std::array<std::string_view, 3> kOriginNames = {"measured", "estimated", "by name"};

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// At this time, the number of running blocks changes by this much.
struct Change {
  Time time = 0;
  int64_t blocks = 0;
};

/// The integral of min(blocks / SMs, 1) in ns. Numbers of blocks are integers, so no rounding error remains
/// at the end.
double integrate(std::vector<Change> changes, int64_t multiprocessors) {
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.time < b.time; });
  double area = 0;
  int64_t blocks = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    if (i > 0) {
      const double share =
          ratio(static_cast<double>(std::min(blocks, multiprocessors)), static_cast<double>(multiprocessors));
      area += share * static_cast<double>(changes[i].time - changes[i - 1].time);
    }
    blocks += changes[i].blocks;
  }
  return area;
}

/// Limited to the number of multiprocessors: more blocks do not make the device busier, and the product of
/// three sizes could overflow.
int64_t blocks_of(const KernelLaunch& launch, int64_t multiprocessors) {
  double blocks = 1;
  for (const int32_t size : launch.grid) blocks *= size;
  return static_cast<int64_t>(std::clamp(blocks, 0.0, static_cast<double>(multiprocessors)));
}

/// Sums over the kernels of one device.
class Gathered {
 public:
  /// `device` is its description in the trace; null if there is none.
  explicit Gathered(const trace::DeviceProperties* device)
      : device_(device), multiprocessors_(device == nullptr ? 0 : device->multiprocessors) {}

  void add(Span span, const KernelLaunch* launch, TensorCores::Answer tensor_cores) {
    const double duration = static_cast<double>(length(span));
    ++kernels_;
    spans_.push_back(span);
    time_ += length(span);
    if (tensor_cores.uses) tensor_time_ += duration;
    named_ = named_ || tensor_cores.by_name;
    if (launch == nullptr) return;
    if (const int64_t blocks = blocks_of(*launch, multiprocessors_); blocks > 0) {
      changes_.push_back({span.start, blocks});
      changes_.push_back({span.end, -blocks});
      shaped_time_ += duration;
    }
    const double occupancy =
        device_ == nullptr ? launch->recorded_occupancy : trace::estimated_occupancy(*launch, *device_);
    if (occupancy < 0) return;
    occupied_ += occupancy / 100 * duration;
    occupancy_time_ += duration;
  }

  void finish(Time window, DeviceUsage* usage) {
    const double time = static_cast<double>(time_);
    usage->kernels = kernels_;
    usage->kernel_time = time_;
    usage->busy = total_length(unite(std::move(spans_)));
    usage->utilization.value = ratio(static_cast<double>(usage->busy), static_cast<double>(window));
    usage->tensor_cores = {ratio(tensor_time_, time), named_ ? Origin::kByName : Origin::kMeasured, 1};
    if (shaped_time_ > 0)
      usage->sm_efficiency = {
          ratio(integrate(std::move(changes_), multiprocessors_), static_cast<double>(window)),
          Origin::kEstimated, ratio(shaped_time_, time)};
    if (occupancy_time_ > 0)
      usage->occupancy = {occupied_ / occupancy_time_, Origin::kEstimated, ratio(occupancy_time_, time)};
  }

 private:
  const trace::DeviceProperties* device_;
  int64_t multiprocessors_;
  int64_t kernels_ = 0;
  std::vector<Span> spans_;
  std::vector<Change> changes_;
  Time time_ = 0;
  double tensor_time_ = 0;
  bool named_ = false;  // true if any kernel was classified by its name
  double shaped_time_ = 0;
  double occupied_ = 0;
  double occupancy_time_ = 0;
};

void describe(const Trace& trace, DeviceUsage* usage) {
  const trace::DeviceProperties* properties = trace.find_device(usage->device);
  if (properties == nullptr) return;
  usage->name = trace.text(properties->name);
  usage->memory_bytes = properties->memory_bytes;
  usage->compute_major = properties->compute_major;
  usage->compute_minor = properties->compute_minor;
  usage->multiprocessors = properties->multiprocessors;
}

std::map<int32_t, Gathered> gather(const Trace& trace, Span window) {
  std::map<int32_t, Gathered> devices;
  for (const trace::DeviceProperties& properties : trace.devices)
    devices.try_emplace(properties.id, &properties);
  TensorCores tensor_cores(trace);
  for (const DeviceEvent& event : trace.device_events) {
    Gathered& gathered = devices.try_emplace(event.device, nullptr).first->second;
    const Span span = overlap({event.start, event.end}, window);
    if (event.kind != DeviceKind::kKernel || length(span) == 0) continue;
    const KernelLaunch* launch =
        event.detail < 0 ? nullptr : &trace.launches[static_cast<size_t>(event.detail)];
    gathered.add(span, launch, tensor_cores.of(event));
  }
  return devices;
}

}  // namespace

std::string_view origin_name(Origin origin) { return kOriginNames.at(static_cast<size_t>(origin)); }

GpuUsage analyze_gpu_usage(const Trace& trace, Span window) {
  GpuUsage usage{window, {}};
  for (auto& [id, gathered] : gather(trace, window)) {
    DeviceUsage& device = usage.devices.emplace_back();
    device.device = id;
    describe(trace, &device);
    gathered.finish(length(window), &device);
    device.counters = mean_counters(trace, id, window);
    device.measured_gr_active = measured_share(device.counters, CounterRole::kGrActive);
    device.measured_sms_active = measured_share(device.counters, CounterRole::kSmsActive);
    device.measured_warps_active = measured_share(device.counters, CounterRole::kWarpsActive);
    device.measured_tensor_active = measured_share(device.counters, CounterRole::kTensorActive);
  }
  return usage;
}

Json to_json(const GpuUsage& usage) { return base::described_json(usage); }

}  // namespace hone::analysis
