// Rules about a GPU that is idle or does only one thing at a time: gaps and mostly idle chunks as in `nsys
// analyze`, late launches, and copies that could overlap kernels.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/advice/advice_rules.hpp"
#include "analysis/names.hpp"
#include "analysis/questions/profiler_overhead.hpp"
#include "base/units.hpp"

namespace hone::analysis {
namespace {

using base::share_text;
using base::time_text;
using trace::DeviceEvent;
using trace::DeviceKind;
using trace::HostEvent;

/// A gap is long if `nsys analyze` would report it, or if it is at least this share of the window.
constexpr Time kLongGap = 500'000'000;
constexpr double kLongGapShare = 0.05;
constexpr int64_t kChunks = 30;
constexpr double kLowChunk = 0.5;
/// Kernels shorter than a launch, which takes a few microseconds on the host.
constexpr Time kTinyKernel = 10'000;
/// If the wait is longer than this, the launch itself cannot be the cause.
constexpr Time kLaunchGap = 50'000;
constexpr double kLaunchBound = 0.05;
constexpr int64_t kManyKernels = 20;
constexpr double kHideable = 0.05;

/// Describes what the host did in a gap: the shortest event that covers most of it.
std::string host_activity(const RuleContext& context, Span gap) {
  const HostEvent* best = nullptr;
  for (const HostEvent& event : context.trace.host_events) {
    const Time covered = length(overlap({event.start, event.end}, gap));
    if (event.kind == trace::HostKind::kStep || 2 * covered < length(gap)) continue;
    if (best == nullptr || event.end - event.start < best->end - best->start) best = &event;
  }
  if (best == nullptr) return "; nothing that was recorded of the host covers it";
  const Time covered = length(overlap({best->start, best->end}, gap));
  return fmt::format("; the host was in {} for {} of it", context.trace.text(best->name),
                     time_text(static_cast<double>(covered)));
}

Ruling long_gaps(const RuleContext& context) {
  const double threshold =
      std::min(static_cast<double>(kLongGap), std::max(kLongGapShare * context.window_length(), 1e5));
  const Intervals overhead = profiler_overhead(context.trace);
  double idle = 0;
  double idlest = 0;
  int64_t gaps = 0;
  LongestPlaces places;
  for (const DeviceActivity& device : context.devices) {
    const double before = idle;
    // The program is not responsible for the profiler's own work.
    for (const Span& gap : subtract(device.gaps, overhead)) {
      const auto duration = static_cast<double>(length(gap));
      if (duration < threshold) continue;
      ++gaps;
      idle += duration;
      places.add(gap, fmt::format("GPU {} idle for {}", device.device, time_text(duration)));
    }
    idlest = std::max(idlest, idle - before);
  }
  const double gain = std::min(idlest, context.savable_idle());
  if (gaps == 0 || !context.worthwhile(gain)) return {};
  Advice advice{
      "",
      "There are long stretches in which a GPU does nothing.",
      places.take(),
      "Look at what the host does there: announce ranges (NVTX, record_function) or sample its stacks.",
      gain,
      "these gaps of one GPU, and no more than the busiest GPU idles"};
  for (Evidence& evidence : advice.evidence) evidence.text += host_activity(context, evidence.place);
  advice.evidence.insert(
      advice.evidence.begin(),
      Evidence{fmt::format("{} gaps of more than {}, {} in all", gaps, time_text(threshold), time_text(idle)),
               {}});
  return {std::move(advice), {}};
}

/// Returns chunks of a device's time that are mostly idle; adjacent chunks are joined.
Intervals idle_chunks(const DeviceActivity& device, Time chunk) {
  std::vector<Span> chunks;
  for (int64_t i = 0; i < kChunks; ++i) {
    const Time start = device.busy.front().start + i * chunk;
    chunks.push_back({start, start + chunk});
  }
  const std::vector<Time> busy = lengths_within(device.busy, chunks);
  std::vector<Span> idle;
  for (size_t i = 0; i < chunks.size(); ++i) {
    if (static_cast<double>(busy[i]) < kLowChunk * static_cast<double>(chunk)) idle.push_back(chunks[i]);
  }
  return unite(std::move(idle));
}

/// Finds long idle phases. The rule on utilization covers devices that are idle most of the time, and other
/// rules cover idle time that recurs in every step, so a phase must be longer than a step.
Ruling idle_phases(const RuleContext& context) {
  const double step = context.steps.announced ? context.steps.total.p50 : 0;
  double lost = 0;
  LongestPlaces places;
  for (const DeviceActivity& device : context.devices) {
    const Span span{device.busy.front().start, device.busy.back().end};
    const Time chunk = length(span) / kChunks;
    const double share = static_cast<double>(total_length(device.busy)) / static_cast<double>(length(span));
    double of_device = 0;
    if (chunk == 0 || share < kLowChunk) continue;
    for (const Span& phase : idle_chunks(device, chunk)) {
      if (static_cast<double>(length(phase)) <= step) continue;
      const auto busy = static_cast<double>(total_length(clip(device.busy, phase)));
      const auto duration = static_cast<double>(length(phase));
      of_device += duration - busy;
      places.add(phase, fmt::format("GPU {} busy {} of {}", device.device, share_text(busy / duration),
                                    time_text(duration)));
    }
    lost = std::max(lost, of_device);
  }
  const double gain = std::min(lost, context.savable_idle());
  if (!context.worthwhile(gain)) return {};
  return {Advice{"", "A GPU that is busy as a rule has phases in which it mostly idles.", places.take(),
                 "Look at what the host does in these phases, and launch their work earlier or in parallel.",
                 gain, "the idle time of one GPU in these phases, and no more than the busiest GPU idles"},
          {}};
}

/// Sums over the kernels of all devices.
struct Launches {
  int64_t kernels = 0;
  int64_t tiny = 0;
  int64_t late = 0;
  int64_t joined = 0;
  Time waited = 0;
  LongestPlaces places;
};

/// Counts kernels outside CUDA graphs, and sums the time in which GPUs without work waited for a launch.
Launches late_launches(const RuleContext& context) {
  Launches launches;
  std::vector<std::pair<int32_t, Time>> ends;  // end of the work so far on each device
  for (const DeviceActivity& device : context.devices)
    ends.emplace_back(device.device, device.busy.front().start);
  for (size_t i = 0; i < context.trace.device_events.size(); ++i) {
    const DeviceEvent& event = context.trace.device_events[i];
    if (!context.starts_inside(event.start)) continue;
    const auto found = std::find_if(ends.begin(), ends.end(),
                                    [&event](const auto& entry) { return entry.first == event.device; });
    if (found == ends.end()) continue;
    const Time free = found->second;
    found->second = std::max(free, event.end);
    if (event.kind != DeviceKind::kKernel || event.graph_node != trace::kNone || event.graph != trace::kNone)
      continue;
    ++launches.kernels;
    launches.tiny += event.end - event.start < kTinyKernel ? 1 : 0;
    const HostEvent* call = context.call_of(i);
    if (call == nullptr) continue;
    ++launches.joined;
    const Time gap = event.start - free;
    if (gap <= 0 || gap > kLaunchGap || call->end <= free) continue;
    ++launches.late;
    launches.waited += gap;
    launches.places.add({free, event.start}, fmt::format("GPU {} waited {} for {}", event.device,
                                                         time_text(static_cast<double>(gap)),
                                                         base_name(context.trace.text(event.name))));
  }
  return launches;
}

Ruling launch_bound(const RuleContext& context) {
  Launches launches = late_launches(context);
  if (launches.kernels >= kManyKernels && launches.joined == 0)
    return {{}, "the calls that launched kernels were not recorded"};
  if (launches.kernels < kManyKernels || 2 * launches.tiny < launches.kernels) return {};
  const double waited = std::min(static_cast<double>(launches.waited), context.savable_idle());
  if (!context.worthwhile(waited, kLaunchBound)) return {};
  Advice advice{"",
                "Many tiny kernels run faster than the host can launch them.",
                launches.places.take(),
                "Capture the sequence into a CUDA graph (torch.cuda.graphs, torch.compile mode "
                "\"reduce-overhead\"; hone does it by itself), or fuse the kernels.",
                waited,
                "idle time of the GPU before kernels whose launch had not returned when the GPU ran dry"};
  advice.evidence.insert(
      advice.evidence.begin(),
      Evidence{fmt::format("{} kernels outside CUDA graphs, {} of them shorter than {}; {} came too late",
                           launches.kernels, launches.tiny, time_text(static_cast<double>(kTinyKernel)),
                           launches.late),
               {}});
  return {std::move(advice), {}};
}

Ruling copies_beside_kernels(const RuleContext& context) {
  const DeviceTransfers* most = nullptr;
  for (const DeviceTransfers& device : context.transfers.devices) {
    if (most == nullptr || device.hideable > most->hideable) most = &device;
  }
  if (most == nullptr) return {};
  const auto hideable = static_cast<double>(most->hideable);
  if (!context.worthwhile(hideable, kHideable)) return {};
  Advice advice{
      "",
      "Copies and kernels run one after the other, though the hardware can run them at the same time.",
      {},
      "Copy on a stream of its own with pinned memory, one batch before the kernels (two buffers).",
      hideable,
      "for each step the shorter of its copies and its kernels, where they do not overlap yet"};
  advice.evidence.push_back(
      {fmt::format("GPU {}: copies over the link take {}, kernels {}, both at the same time {}", most->device,
                   time_text(static_cast<double>(most->total.link)),
                   time_text(static_cast<double>(most->total.compute)),
                   time_text(static_cast<double>(most->total.both))),
       {}});
  return {std::move(advice), {}};
}

constexpr std::array<Rule, 4> kRules = {{{"long-gaps", long_gaps},
                                         {"idle-phases", idle_phases},
                                         {"launch-bound", launch_bound},
                                         {"copies-beside-kernels", copies_beside_kernels}}};

}  // namespace

std::span<const Rule> idle_rules() { return kRules; }

}  // namespace hone::analysis
