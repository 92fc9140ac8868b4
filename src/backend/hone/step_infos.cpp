// See step_infos.hpp.
#include "backend/hone/step_infos.hpp"

#include <string>

namespace hone::backend {
namespace {

/// If the tactics of a piece were not searched, it has the rivals of the whole node.
std::vector<Rival> rivals_of(const engine::StepDescription& step) {
  std::vector<Rival> rivals;
  for (const engine::TacticRecord& record : step.rivals.empty() ? step.whole_rivals : step.rivals)
    rivals.push_back({record.tactic, std::string(engine::layout_name(record.layout)), record.median_us,
                      record.chosen, record.refusal.text()});
  return rivals;
}

}  // namespace

std::vector<StepInfo> step_infos(const engine::Description& description) {
  std::vector<StepInfo> result;
  for (const engine::StepDescription& step : description.steps)
    result.push_back({step.name, step.kind, step.sources, step.tactic, step.inputs, step.outputs, step.flops,
                      step.bytes, step.predecessors, rivals_of(step)});
  return result;
}

}  // namespace hone::backend
