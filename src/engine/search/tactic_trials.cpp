// See tactic_trials.hpp.
#include "engine/search/tactic_trials.hpp"

#include <algorithm>

#include "base/out_of_memory.hpp"
#include "engine/search/step_timer.hpp"

namespace hone::engine {

TacticTrials::TacticTrials(Engine& engine, std::shared_ptr<const graph::Graph> bound, const Device& device,
                           bool exhaustive)
    : engine_(engine),
      bound_(std::move(bound)),
      device_(device),
      exhaustive_(exhaustive),
      inputs_(timing_inputs(*bound_)),
      check_(engine.precision, inputs_, device.overlaps_steps()) {}

std::unique_ptr<Program> TacticTrials::make(Layout layout, const std::vector<std::string>& tactics,
                                            bool list) const {
  return build_program(bound_, device_, engine_.weights,
                       {.precision = engine_.precision,
                        .layout = layout,
                        .tactics = tactics,
                        .list_candidates = list,
                        .exhaustive = list && exhaustive_});
}

bool TacticTrials::fits(const std::function<void()>& action) {
  try {
    action();
    return true;
  } catch (const LostDevice&) {
    throw;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kEnvironment && error.kind() != ErrorKind::kBadInput) throw;
    misfit_ = error.what();
    const auto* unfit = dynamic_cast<const UnfitInputs*>(&error);
    short_of_memory_ = is_out_of_memory(error) || (unfit != nullptr && unfit->short_of_memory);
    failure_ = std::current_exception();
    return false;
  }
}

Outputs TacticTrials::first_outputs(Execution& made) const {
  // All that the shapes ask for; what fails after it is a step.
  made.executor();
  made.program().make_outputs();
  try {
    return check_.run(made);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadInput) throw;
    throw UnfitInputs(error, is_out_of_memory(error));
  }
}

std::string TacticTrials::mistake(const std::function<bool()>& action) {
  bool right = false;
  if (!fits([&] { right = action(); })) return misfit_;
  return right ? "" : "with it the network computes something else";
}

std::vector<std::string> TacticTrials::all_by_reference() const {
  return std::vector<std::string>(bound_->nodes.size(), reference_tactic().name);
}

std::string TacticTrials::doubt_of_cached(const LayoutSearch& search) {
  const bool any =
      std::any_of(search.steps.begin(), search.steps.end(), [](const StepSearch& s) { return s.cached; });
  if (!device_.overlaps_steps() || !any) return {};
  std::vector<std::string> others(bound_->nodes.size());
  Outputs expected;
  if (!fits([&] { expected = first_outputs(*program(search.layout, others)); })) {
    others = all_by_reference();
    expected = reference_outputs(search.layout);
  }
  check_.expect({{expected, 1}}, {});
  std::vector<std::string> tactics = search.tactics(others.size());
  for (size_t node = 0; node < tactics.size(); ++node) {
    if (tactics[node].empty()) tactics[node] = others[node];
  }
  return mistake_of(search.layout, tactics);
}

}  // namespace hone::engine
