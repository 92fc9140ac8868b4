// See transfers.hpp.
#include "analysis/questions/transfers.hpp"

#include <map>

#include "analysis/names.hpp"
#include "analysis/schema/transfers.hpp"

namespace hone::analysis {
namespace {

using trace::CopyDirection;
using trace::DeviceEvent;
using trace::DeviceKind;
using trace::Trace;

/// Intervals of one device.
struct Work {
  std::vector<Span> kernels;
  std::vector<Span> others;
  std::array<std::vector<Span>, kCopyDirections> copies;
};

/// An unknown direction counts as a copy over the link, like most copies.
bool uses_link(size_t direction) {
  const auto kind = static_cast<CopyDirection>(direction);
  return kind != CopyDirection::kDeviceToDevice && kind != CopyDirection::kHostToHost;
}

size_t direction_of(const Trace& trace, const DeviceEvent& event) {
  return event.detail < 0 ? 0
                          : static_cast<size_t>(trace.transfers[static_cast<size_t>(event.detail)].direction);
}

std::map<int32_t, Work> gather(const Trace& trace) {
  std::map<int32_t, Work> devices;
  for (const DeviceEvent& event : trace.device_events) {
    Work& work = devices[event.device];
    const Span span{event.start, event.end};
    if (event.kind == DeviceKind::kKernel) {
      work.kernels.push_back(span);
    } else if (event.kind == DeviceKind::kSet) {
      work.others.push_back(span);
    } else {
      work.copies.at(direction_of(trace, event)).push_back(span);
    }
  }
  return devices;
}

/// Divides the bytes of copies among steps. Steps that a copy covers completely get its density (bytes per
/// ns) by a difference array, so a copy across many steps costs no more than one across two.
class ByteDivider {
 public:
  ByteDivider(const std::vector<Span>& spans, std::vector<Overlap>& steps) : spans_(spans), steps_(steps) {
    changes_.fill(std::vector<double>(spans.size() + 1, 0));
  }

  void add(Span copy, double bytes, size_t direction) {
    const auto from = std::partition_point(spans_.begin(), spans_.end(),
                                           [&copy](const Span& span) { return span.end <= copy.start; });
    const auto to =
        std::partition_point(from, spans_.end(), [&copy](const Span& span) { return span.start < copy.end; });
    const auto first = static_cast<size_t>(from - spans_.begin());
    const auto end = static_cast<size_t>(to - spans_.begin());
    if (length(copy) == 0) {
      if (from != spans_.end() && from->start <= copy.start) count(first, direction, bytes);
      return;
    }
    if (first >= end) return;
    const double density = bytes / static_cast<double>(length(copy));
    count(first, direction, density * static_cast<double>(length(overlap(copy, spans_[first]))));
    if (first + 1 == end) return;
    steps_[end - 1].directions.at(direction).bytes +=
        density * static_cast<double>(length(overlap(copy, spans_[end - 1])));
    changes_.at(direction)[first + 1] += density;
    changes_.at(direction)[end - 1] -= density;
  }

  void finish() {
    for (size_t direction = 0; direction < kCopyDirections; ++direction) {
      double density = 0;
      for (size_t i = 0; i < spans_.size(); ++i) {
        density += changes_.at(direction)[i];
        steps_[i].directions.at(direction).bytes += density * static_cast<double>(length(spans_[i]));
      }
    }
  }

 private:
  void count(size_t step, size_t direction, double bytes) {
    ++steps_[step].directions.at(direction).copies;
    steps_[step].directions.at(direction).bytes += bytes;
  }

  const std::vector<Span>& spans_;
  std::vector<Overlap>& steps_;
  std::array<std::vector<double>, kCopyDirections> changes_;
};

void add_bytes(const Trace& trace, int32_t device, const std::vector<Span>& spans,
               std::vector<Overlap>& steps) {
  ByteDivider divider(spans, steps);
  for (const DeviceEvent& event : trace.device_events) {
    if (event.kind != DeviceKind::kCopy || event.device != device || event.detail < 0) continue;
    const auto bytes = static_cast<double>(trace.transfers[static_cast<size_t>(event.detail)].bytes);
    divider.add({event.start, event.end}, bytes, direction_of(trace, event));
  }
  divider.finish();
}

/// Adds the lengths of a set of time to each step.
void add_lengths(const Intervals& set, const std::vector<Span>& spans, std::vector<Overlap>& steps,
                 Time Overlap::*member) {
  const std::vector<Time> lengths = lengths_within(set, spans);
  for (size_t i = 0; i < steps.size(); ++i) steps[i].*member = lengths[i];
}

void add_times(Work work, const std::vector<Span>& spans, std::vector<Overlap>& steps) {
  Intervals link;
  Intervals others = unite(std::move(work.others));
  for (size_t direction = 0; direction < kCopyDirections; ++direction) {
    const Intervals copies = unite(std::move(work.copies.at(direction)));
    Intervals& side = uses_link(direction) ? link : others;
    side = unite(side, copies);
    const std::vector<Time> lengths = lengths_within(copies, spans);
    for (size_t i = 0; i < steps.size(); ++i) steps[i].directions.at(direction).busy = lengths[i];
  }
  const Intervals kernels = unite(std::move(work.kernels));
  const Intervals main = unite(kernels, link);
  add_lengths(link, spans, steps, &Overlap::link);
  add_lengths(kernels, spans, steps, &Overlap::compute);
  add_lengths(intersect(kernels, link), spans, steps, &Overlap::both);
  add_lengths(subtract(others, main), spans, steps, &Overlap::other);
  for (Overlap& step : steps)
    step.idle = step.length - step.link_only() - step.compute_only() - step.both - step.other;
}

void accumulate(const Overlap& step, Overlap* total) {
  for (size_t i = 0; i < kCopyDirections; ++i) {
    total->directions.at(i).copies += step.directions.at(i).copies;
    total->directions.at(i).bytes += step.directions.at(i).bytes;
    total->directions.at(i).busy += step.directions.at(i).busy;
  }
  for (Time Overlap::*const member :
       {&Overlap::length, &Overlap::link, &Overlap::compute, &Overlap::both, &Overlap::other, &Overlap::idle})
    total->*member += step.*member;
}

}  // namespace

TransferAnalysis analyze_transfers(const Trace& trace, const StepList& list) {
  std::vector<Span> spans;
  std::vector<Overlap> empty;
  for (const Step& step : list.steps) {
    spans.push_back(step.span);
    empty.push_back({step.name, length(step.span)});
  }
  TransferAnalysis analysis;
  for (auto& [id, work] : gather(trace)) {
    DeviceTransfers& device = analysis.devices.emplace_back();
    device.device = id;
    device.steps = empty;
    add_times(std::move(work), spans, device.steps);
    add_bytes(trace, id, spans, device.steps);
    device.total.step = "all";
    for (const Overlap& step : device.steps) {
      accumulate(step, &device.total);
      device.hideable += step.hideable();
    }
  }
  return analysis;
}

base::Named<Traffic> Overlap::named_directions() const {
  base::Named<Traffic> named;
  for (size_t i = 0; i < kCopyDirections; ++i) {
    const Traffic& traffic = directions.at(i);
    if (traffic.copies == 0 && traffic.busy == 0) continue;
    named.emplace_back(direction_name(static_cast<CopyDirection>(i)), traffic);
  }
  return named;
}

Json to_json(const TransferAnalysis& analysis) { return base::described_json(analysis); }

}  // namespace hone::analysis
