// Plans for the nodes of a graph, by the texts of their tactics.
#pragma once

#include <string>
#include <vector>

#include "engine/engine.hpp"

namespace hone::engine {

/// Plans with tactics[i] for node i.
inline Plans plans_by(const std::vector<std::string>& tactics, Layout layout = Layout::kPlain,
                      const NumericPolicy& policy = {}) {
  Plans plans;
  for (size_t i = 0; i < tactics.size(); ++i)
    plans[{static_cast<int32_t>(i), {}}] = {parse_tactic_id(tactics[i]), layout, policy};
  return plans;
}

/// The same tactic for all of the engine's nodes.
inline void plan_all(Engine& engine, const std::string& tactic) {
  engine.plans =
      plans_by(std::vector<std::string>(engine.graph->nodes.size(), tactic), engine.layout, engine.policy());
}

/// The tactic that the step's plan names, "" where it has none.
inline std::string planned_tactic(const Engine& engine, const StepKey& key) {
  const auto found = engine.plans.find(key);
  return found == engine.plans.end() ? "" : found->second.tactic.text();
}

}  // namespace hone::engine
