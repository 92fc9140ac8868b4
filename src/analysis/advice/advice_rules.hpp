// The rules of advice.cpp, one function each, grouped by subject.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "analysis/advice/advice.hpp"
#include "analysis/joins.hpp"
#include "analysis/questions/layer_threads.hpp"
#include "analysis/questions/layers.hpp"

namespace hone::analysis {

/// The activity of one device in the window.
struct DeviceActivity {
  int32_t device = 0;
  Intervals busy;  ///< kernels, copies and sets
  Intervals gaps;  ///< between the first and the last of them
};

/// Less than this share of the window is not worth advice.
constexpr double kWorthwhile = 0.01;

/// The findings, and what several rules derive from them.
struct RuleContext : Findings {
  HostIndices calls;  ///< that launched the device events
  std::vector<DeviceActivity> devices;
  /// Layers of a model that ran on the CPU; empty in other traces.
  LayerTable layers;
  LayerThreadTable threads;

  double window_length() const { return static_cast<double>(length(window)); }
  /// True if a gain of that many ns is worth advice.
  bool worthwhile(double time, double share = kWorthwhile) const {
    return time > 0 && time >= share * window_length();
  }
  /// At most what waiting less could save: the program takes as long as its busiest GPU works.
  double savable_idle() const;
  /// Time in which any GPU worked: at most what faster kernels could save.
  double busy_time() const;
  bool starts_inside(Time time) const { return time >= window.start && time < window.end; }
  /// The API call that launched a device event, or null.
  const trace::HostEvent* call_of(size_t device_event) const;
  /// Its name without version; empty when it is not known.
  std::string_view call_name(size_t device_event) const;
  const trace::Transfer* transfer_of(const trace::DeviceEvent& event) const;
};

/// Neither advice nor a reason: all is well.
struct Ruling {
  std::optional<Advice> advice;
  std::string unjudged;
};

struct Rule {
  std::string_view name;
  Ruling (*judge)(const RuleContext& context);
  /// True if it also applies where no device event was recorded.
  bool judges_host_alone = false;
  /// True if it also applies to models on the CPU.
  bool for_cpu = false;
};

/// The seven of TensorBoard's profiler plugin, with its mistakes mended.
std::span<const Rule> framework_rules();
/// Copies, sets and synchronization, as `nsys analyze` looks at them.
std::span<const Rule> waiting_rules();
/// Idle time of the GPU: gaps, chunks, launches, copies that do not overlap kernels.
std::span<const Rule> idle_rules();
/// Which kernels ran and how.
std::span<const Rule> kernel_rules();
/// Rules about the trace itself: does it show the program at all?
std::span<const Rule> trace_rules();

/// Layers of a model on the CPU: kernels of the reference, reorders, threads, batches, memory and arithmetic.
std::span<const Rule> cpu_rules();

/// Keeps the longest places, as evidence.
class LongestPlaces {
 public:
  void add(Span place, std::string text);
  /// The longest few, in order of time.
  std::vector<Evidence> take();

 private:
  std::vector<Evidence> places_;
};

}  // namespace hone::analysis
