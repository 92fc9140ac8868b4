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
  Intervals gaps;  ///< idle intervals between the first and the last of them
};

/// Gains below this share of the window are not reported.
constexpr double kWorthwhile = 0.01;

/// The findings, and quantities derived from them that several rules use.
struct RuleContext : Findings {
  HostIndices calls;  ///< API calls that launched the device events
  std::vector<DeviceActivity> devices;
  /// Layers of a model that ran on the CPU; empty in other traces.
  LayerTable layers;
  LayerThreadTable threads;

  double window_length() const { return static_cast<double>(length(window)); }
  /// True if a gain of this many ns is large enough for advice.
  bool worthwhile(double time, double share = kWorthwhile) const {
    return time > 0 && time >= share * window_length();
  }
  /// Upper bound of the time that less waiting could save: the program takes at least the busy time of its
  /// busiest GPU.
  double savable_idle() const;
  /// Time in which any GPU worked, which is the upper bound of what faster kernels could save.
  double busy_time() const;
  bool starts_inside(Time time) const { return time >= window.start && time < window.end; }
  /// The API call that launched a device event, or null.
  const trace::HostEvent* call_of(size_t device_event) const;
  /// The call's name without version suffix; empty if the call is unknown.
  std::string_view call_name(size_t device_event) const;
  const trace::Transfer* transfer_of(const trace::DeviceEvent& event) const;
};

/// The result of a rule; without advice and without a reason, there is no problem.
struct Ruling {
  std::optional<Advice> advice;
  std::string unjudged;
};

struct Rule {
  std::string_view name;
  Ruling (*judge)(const RuleContext& context);
  /// True if the rule also applies to traces without device events.
  bool judges_host_alone = false;
  /// True if the rule also applies to models on the CPU.
  bool for_cpu = false;
};

/// The seven rules of TensorBoard's profiler plugin, with its errors corrected.
std::span<const Rule> framework_rules();
/// Rules about copies, sets and synchronization, as in `nsys analyze`.
std::span<const Rule> waiting_rules();
/// Rules about idle GPU time: gaps, mostly idle chunks, launches, and copies that do not overlap kernels.
std::span<const Rule> idle_rules();
/// Rules about the choice and the use of kernels.
std::span<const Rule> kernel_rules();
/// Rules about the trace itself: does it represent the program at all?
std::span<const Rule> trace_rules();

/// Rules about layers on the CPU: reference kernels, reorders, threads, batches, memory and arithmetic.
std::span<const Rule> cpu_rules();

/// Collects the longest places as evidence.
class LongestPlaces {
 public:
  void add(Span place, std::string text);
  /// Returns the longest places in order of time.
  std::vector<Evidence> take();

 private:
  std::vector<Evidence> places_;
};

}  // namespace hone::analysis
