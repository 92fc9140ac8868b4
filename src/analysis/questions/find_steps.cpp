// Finds where steps begin and end; see steps.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "analysis/joins.hpp"
#include "analysis/questions/steps.hpp"
#include "base/error.hpp"

namespace hone::analysis {
namespace {

using trace::HostEvent;
using trace::HostKind;
using trace::Trace;

/// If the last step has fewer device events than this share of the previous step, the end of the recording
/// cut it off.
constexpr double kWholeStep = 0.8;

int32_t thread_of_steps(const Trace& trace) {
  std::vector<int64_t> counts(trace.threads.size(), 0);
  for (const HostEvent& event : trace.host_events) {
    if (event.kind == HostKind::kStep) ++counts[static_cast<size_t>(event.thread)];
  }
  const auto most = std::max_element(counts.begin(), counts.end());
  return most == counts.end() || *most == 0 ? -1 : static_cast<int32_t>(most - counts.begin());
}

StepList announced_steps(const Trace& trace, int32_t thread) {
  StepList list{{}, true, {}};
  int64_t elsewhere = 0;
  int64_t inside = 0;
  for (const HostEvent& event : trace.host_events) {
    if (event.kind != HostKind::kStep) continue;
    const bool overlaps = !list.steps.empty() && event.start < list.steps.back().host.end;
    if (event.thread != thread) {
      ++elsewhere;
    } else if (overlaps) {
      ++inside;
    } else {
      const Span span{event.start, event.end};
      list.steps.push_back({trace.text(event.name), span, span, 0});
    }
  }
  if (elsewhere > 0)
    list.notes.push_back(fmt::format(
        "{} steps of other threads were left out; those of the thread with most steps are shown", elsewhere));
  if (inside > 0)
    list.notes.push_back(fmt::format("{} steps that begin inside another were left out", inside));
  return list;
}

/// The step in which an event at this time starts; -1 outside of steps.
int32_t step_at(const std::vector<Step>& steps, Time time) {
  const auto after = std::partition_point(steps.begin(), steps.end(),
                                          [time](const Step& step) { return step.host.start <= time; });
  if (after == steps.begin() || std::prev(after)->host.end <= time) return -1;
  return static_cast<int32_t>(after - steps.begin()) - 1;
}

struct DeviceWork {
  std::vector<Span> spans;  ///< of each step; {max, min} if it launched nothing
  std::vector<Time> outside_ends;
};

constexpr Span kNothing{std::numeric_limits<Time>::max(), std::numeric_limits<Time>::min()};

DeviceWork device_work(const Trace& trace, StepList& list) {
  DeviceWork work{std::vector<Span>(list.steps.size(), kNothing), {}};
  const HostIndices calls = launching_calls(trace);
  int64_t unknown = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    const trace::DeviceEvent& event = trace.device_events[i];
    if (calls[i] < 0) {
      ++unknown;
      continue;
    }
    const int32_t at = step_at(list.steps, trace.host_events[static_cast<size_t>(calls[i])].start);
    if (at < 0) {
      work.outside_ends.push_back(event.end);
      continue;
    }
    Span& span = work.spans[static_cast<size_t>(at)];
    span = {std::min(span.start, event.start), std::max(span.end, event.end)};
    ++list.steps[static_cast<size_t>(at)].device_events;
  }
  if (unknown > 0)
    list.notes.push_back(
        fmt::format("{} device events have no API call in the trace, so they prolong no step", unknown));
  return work;
}

void prolong(std::vector<Step>& steps, const DeviceWork& work) {
  const Time first_work = work.spans.front().start;
  Time previous_end = steps.front().host.start;
  for (const Time end : work.outside_ends) {
    if (end <= first_work) previous_end = std::max(previous_end, std::min(end, steps.front().host.end));
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    Step& step = steps[i];
    const Time start = std::max(previous_end, step.host.start);
    step.span = {start, std::max({start, step.host.end, work.spans[i].end})};
    previous_end = step.span.end;
  }
}

void drop_cut_tail(StepList& list) {
  std::vector<Step>& steps = list.steps;
  const auto last =
      std::find_if(steps.rbegin(), steps.rend(), [](const Step& s) { return s.device_events > 0; });
  if (last == steps.rend()) return;
  size_t keep = static_cast<size_t>(steps.rend() - last);
  const bool cut = keep > 1 && kWholeStep * static_cast<double>(steps[keep - 2].device_events) >
                                   static_cast<double>(steps[keep - 1].device_events);
  if (cut) --keep;
  if (keep == steps.size()) return;
  list.notes.push_back(
      fmt::format("the last {} of {} steps were left out: fewer device events were recorded for them than "
                  "for the one before",
                  steps.size() - keep, steps.size()));
  steps.resize(keep);
}

}  // namespace

StepList find_steps(const Trace& trace) {
  const int32_t thread = thread_of_steps(trace);
  if (thread < 0) {
    const Span whole = trace::extent(trace);
    StepList list{
        {{"whole trace", whole, whole, static_cast<int64_t>(trace.device_events.size())}}, false, {}};
    list.notes.emplace_back("no steps were announced, so the whole trace is taken for one");
    return list;
  }
  StepList list = announced_steps(trace, thread);
  const DeviceWork work = device_work(trace, list);
  prolong(list.steps, work);
  drop_cut_tail(list);
  return list;
}

StepList select_steps(StepList list, size_t first, size_t last) {
  const size_t end = std::min(last, list.steps.size());
  if (first >= end) {
    const std::string asked = last == std::numeric_limits<size_t>::max() ? "" : std::to_string(last);
    fail_usage("there are no steps {}:{}, the trace has steps 0:{}", first, asked, list.steps.size());
  }
  std::vector<Step> chosen(std::make_move_iterator(list.steps.begin() + static_cast<std::ptrdiff_t>(first)),
                           std::make_move_iterator(list.steps.begin() + static_cast<std::ptrdiff_t>(end)));
  list.steps = std::move(chosen);
  return list;
}

Span window_of(const StepList& list) {
  return list.steps.empty() ? Span{} : Span{list.steps.front().span.start, list.steps.back().span.end};
}

}  // namespace hone::analysis
