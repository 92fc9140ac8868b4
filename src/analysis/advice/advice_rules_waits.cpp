// Rules about calls that make the host wait, as in `nsys analyze`, with the cost of the wait.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/advice/advice_rules.hpp"
#include "analysis/names.hpp"
#include "base/units.hpp"

namespace hone::analysis {
namespace {

using base::bytes_text;
using base::share_text;
using base::time_text;
using trace::DeviceEvent;
using trace::DeviceKind;
using trace::HostEvent;
using trace::MemoryKind;
using trace::Transfer;

/// Copies or sets that a rule reports, and the host time in the calls that made them.
struct Blocked {
  int64_t count = 0;
  double bytes = 0;
  std::vector<Span> calls;
  LongestPlaces places;

  void add(const RuleContext& context, size_t index, std::string text) {
    const DeviceEvent& event = context.trace.device_events[index];
    ++count;
    bytes += static_cast<double>(context.transfer_of(event)->bytes);
    const HostEvent* call = context.call_of(index);
    if (call != nullptr) calls.push_back({call->start, call->end});
    places.add({event.start, event.end}, std::move(text));
  }
};

std::string described(const Transfer& transfer) {
  return fmt::format("{} {}, {} to {}", bytes_text(static_cast<double>(transfer.bytes)),
                     direction_name(transfer.direction), memory_name(transfer.source),
                     memory_name(transfer.destination));
}

bool is_pageable(const Transfer& transfer) {
  return transfer.source == MemoryKind::kPageable || transfer.destination == MemoryKind::kPageable;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Returns advice if the calls took enough time.
Ruling ruling_of(const RuleContext& context, Blocked blocked, std::string problem, std::string action) {
  const double time =
      static_cast<double>(total_length(clip(unite(std::move(blocked.calls)), context.window)));
  if (!context.worthwhile(time)) return {};
  Advice advice{"",
                std::move(problem),
                blocked.places.take(),
                std::move(action),
                time,
                "the host's time in these calls, as far as it then overlaps other work"};
  advice.evidence.insert(advice.evidence.begin(),
                         Evidence{fmt::format("{} calls for {}; the host was in them for {}, {} of the time",
                                              blocked.count, bytes_text(blocked.bytes), time_text(time),
                                              share_text(time / context.window_length())),
                                  {}});
  return {std::move(advice), {}};
}

Ruling pageable_copies(const RuleContext& context) {
  Blocked blocked;
  int64_t known = 0;
  int64_t copies = 0;
  for (size_t i = 0; i < context.trace.device_events.size(); ++i) {
    const DeviceEvent& event = context.trace.device_events[i];
    const Transfer* transfer = context.transfer_of(event);
    if (event.kind != DeviceKind::kCopy || transfer == nullptr || !context.starts_inside(event.start))
      continue;
    ++copies;
    known +=
        transfer->source != MemoryKind::kUnknown || transfer->destination != MemoryKind::kUnknown ? 1 : 0;
    const bool asynchronous = transfer->asynchronous || contains(context.call_name(i), "Async");
    if (asynchronous && is_pageable(*transfer)) blocked.add(context, i, described(*transfer));
  }
  if (copies > 0 && known == 0) return {{}, "the kinds of memory that copies used were not recorded"};
  return ruling_of(
      context, std::move(blocked),
      "Asynchronous copies use pageable memory, so they are staged and the host waits for them.",
      "Allocate these buffers as pinned memory: cudaHostAlloc, Tensor.pin_memory(), pin_memory of "
      "the DataLoader.");
}

Ruling synchronous_copies(const RuleContext& context) {
  Blocked blocked;
  for (size_t i = 0; i < context.trace.device_events.size(); ++i) {
    const DeviceEvent& event = context.trace.device_events[i];
    const Transfer* transfer = context.transfer_of(event);
    if (event.kind != DeviceKind::kCopy || transfer == nullptr || !context.starts_inside(event.start))
      continue;
    const std::string_view call = context.call_name(i);
    if (!contains(call, "Memcpy") || contains(call, "Async")) continue;
    // Copies within a device do not make the host wait.
    if (transfer->direction == trace::CopyDirection::kDeviceToDevice) continue;
    blocked.add(context, i, described(*transfer));
  }
  return ruling_of(
      context, std::move(blocked), "Copies make the host wait until they are done.",
      "Use cudaMemcpyAsync with pinned memory on a stream of its own (non_blocking=True), and wait "
      "with an event where the data is needed.");
}

Ruling synchronous_sets(const RuleContext& context) {
  Blocked blocked;
  for (size_t i = 0; i < context.trace.device_events.size(); ++i) {
    const DeviceEvent& event = context.trace.device_events[i];
    const Transfer* transfer = context.transfer_of(event);
    if (event.kind != DeviceKind::kSet || transfer == nullptr || !context.starts_inside(event.start))
      continue;
    const std::string_view call = context.call_name(i);
    if (!contains(call, "Memset") || contains(call, "Async")) continue;
    const MemoryKind kind = transfer->destination;
    if (kind == MemoryKind::kPinned || kind == MemoryKind::kManaged)
      blocked.add(context, i, described(*transfer));
  }
  return ruling_of(context, std::move(blocked), "Sets of pinned or managed memory make the host wait.",
                   "Use cudaMemsetAsync.");
}

bool waits_for_all(std::string_view call) {
  constexpr std::array<std::string_view, 4> kCalls = {"cudaDeviceSynchronize", "cudaStreamSynchronize",
                                                      "cuCtxSynchronize", "cuStreamSynchronize"};
  return std::find(kCalls.begin(), kCalls.end(), call) != kCalls.end();
}

Intervals synchronizing_calls(const RuleContext& context) {
  std::vector<int8_t> waits(context.trace.strings.size(), -1);
  std::vector<Span> spans;
  for (const HostEvent& event : context.trace.host_events) {
    if (!is_api_call(event)) continue;
    if (waits[event.name] < 0)
      waits[event.name] = waits_for_all(api_name(context.trace.text(event.name))) ? 1 : 0;
    if (waits[event.name] == 1) spans.push_back({event.start, event.end});
  }
  return unite(std::move(spans));
}

/// A wait costs nothing while the GPU works. It costs time if the GPU runs out of work, because nothing is
/// launched until the host returns. Therefore the rule sums idle time that begins during such a call.
Ruling synchronizing(const RuleContext& context) {
  const Intervals calls = clip(synchronizing_calls(context), context.window);
  Time idle = 0;
  int64_t dry = 0;
  LongestPlaces places;
  for (const DeviceActivity& device : context.devices) {
    size_t call = 0;
    Time of_device = 0;
    for (const Span& gap : device.gaps) {
      while (call < calls.size() && calls[call].end < gap.start) ++call;
      if (call == calls.size() || calls[call].start > gap.start) continue;
      ++dry;
      of_device += length(gap);
      places.add(gap, fmt::format("GPU {} idle for {} after a synchronization", device.device,
                                  time_text(static_cast<double>(length(gap)))));
    }
    idle = std::max(idle, of_device);
  }
  const double gain = std::min(static_cast<double>(idle), context.savable_idle());
  if (!context.worthwhile(gain)) return {};
  Advice advice{
      "",
      "The host waits for the GPU to finish, and then the GPU waits for the host.",
      places.take(),
      "Wait for one event (cudaEventSynchronize, cudaStreamWaitEvent) instead of a stream or device, and "
      "launch the next work before waiting; in PyTorch avoid .item(), .cpu() and print in the loop.",
      gain,
      "idle time of the GPU that begins during a synchronizing call"};
  advice.evidence.insert(
      advice.evidence.begin(),
      Evidence{fmt::format("{} synchronizing calls, {} in all; the GPU ran dry {} times", calls.size(),
                           time_text(static_cast<double>(total_length(calls))), dry),
               {}});
  return {std::move(advice), {}};
}

constexpr std::array<Rule, 4> kRules = {{{"pageable-copies", pageable_copies},
                                         {"synchronous-copies", synchronous_copies},
                                         {"synchronous-sets", synchronous_sets},
                                         {"synchronization", synchronizing}}};

}  // namespace

std::span<const Rule> waiting_rules() { return kRules; }

}  // namespace hone::analysis
