// See iteration_idle.hpp.
#include "analysis/questions/iteration_idle.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "analysis/intervals.hpp"
#include "analysis/questions/idle_time.hpp"

namespace hone::analysis {
namespace {

int32_t first_device(const EventGraph& graph) {
  int32_t result = std::numeric_limits<int32_t>::max();
  for (const Operation& operation : graph.operations) {
    if (operation.device >= 0) result = std::min(result, operation.device);
  }
  return result;
}

/// The length of the part of the span that is inside steps.
Time inside(const std::vector<Step>& steps, Span span) {
  Time total = 0;
  auto step = std::partition_point(steps.begin(), steps.end(),
                                   [&span](const Step& s) { return s.span.end <= span.start; });
  for (; step != steps.end() && step->span.start < span.end; ++step)
    total += length(overlap(step->span, span));
  return total;
}

double& part_of(IterationIdle& idle, const EventGraph& graph, const Charge& charge) {
  switch (charge.kind) {
    case ChargeKind::kCall:
      return graph.trace->text(charge.name).find("Launch") != std::string::npos ? idle.launches : idle.calls;
    case ChargeKind::kLaunchLatency: return idle.launches;
    case ChargeKind::kOther:
    case ChargeKind::kProfiler:
    case ChargeKind::kHostFunction: return idle.host;
    case ChargeKind::kQueueGap: return idle.gaps;
    case ChargeKind::kKernel:
    case ChargeKind::kCopy:
    case ChargeKind::kSet:
    case ChargeKind::kUnknown: break;
  }
  return idle.unknown;
}

}  // namespace

IterationIdle iteration_idle(const EventGraph& graph, const StepList& steps) {
  IterationIdle idle;
  const int32_t watched = first_device(graph);
  const auto count = static_cast<double>(steps.steps.size());
  visit_idle(graph, [&](int32_t device, Span, const std::vector<Charge>& charges) {
    if (device != watched) return;
    for (const Charge& charge : charges)
      part_of(idle, graph, charge) += static_cast<double>(inside(steps.steps, charge.span)) / count;
  });
  return idle;
}

}  // namespace hone::analysis
