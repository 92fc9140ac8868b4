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
      check_(coarsest_precision(engine.policies), inputs_, device.overlaps_steps()) {}

std::unique_ptr<Program> TacticTrials::make(Layout layout, const Plans& plans, const NumericPolicy& policy,
                                            bool list) const {
  return build_program(bound_, device_, engine_.weights,
                       {.policy = policy,
                        .layout = layout,
                        .plans = plans,
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
  // Allocates all memory that the shapes require, so that later failures are those of steps.
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

Plans TacticTrials::all_by_reference(Layout layout) const {
  Plans plans;
  for (size_t node = 0; node < bound_->nodes.size(); ++node) {
    plans[{static_cast<int32_t>(node), {}}] = {{reference_tactic().name, {}}, layout, engine_.policy()};
  }
  return plans;
}

std::string TacticTrials::doubt_of_cached(const LayoutSearch& search) {
  const bool any =
      std::any_of(search.steps.begin(), search.steps.end(), [](const StepSearch& s) { return s.cached; });
  if (!device_.overlaps_steps() || !any) return {};
  Plans plans;
  Outputs expected;
  if (!fits([&] { expected = first_outputs(*program(search.layout, plans)); })) {
    plans = all_by_reference(search.layout);
    expected = reference_outputs(search.layout);
  }
  check_.expect({{expected, 1}}, {});
  for (const auto& [key, plan] : search.plans()) plans[key] = plan;
  return mistake_of(search.layout, plans);
}

}  // namespace hone::engine
