// The decisions for one step of an engine. They are used when programs are built, never while programs run.
#pragma once

#include <compare>
#include <cstdint>
#include <map>

#include "engine/numeric_policy.hpp"
#include "engine/step_key.hpp"
#include "engine/tactic_id.hpp"
#include "engine/tensor_desc.hpp"

namespace hone::engine {

struct StepPlan {
  /// The tactic with its variant; empty: the first one that accepts. kDissolved: the pieces of the node run,
  /// by their own plans if they have any.
  TacticId tactic;
  /// The layout of the images that the step produces.
  Layout layout = Layout::kPlain;
  NumericPolicy policy;
  /// Index into Engine::places.
  int32_t place = 0;

  auto operator<=>(const StepPlan&) const = default;
};

/// Plans of nodes, and of pieces of dissolved nodes.
using Plans = std::map<StepKey, StepPlan>;

}  // namespace hone::engine
