// See subgraph_plans.hpp.
#include "engine/subgraph_plans.hpp"

#include <algorithm>

namespace hone::engine {

std::string subgraph_step_name(const std::string& node, const std::string& attribute) {
  return node + "/" + attribute;
}

Plans plans_within(const Plans& plans, const StepKey& subgraph) {
  Plans result;
  for (auto item = plans.upper_bound(subgraph); item != plans.end(); ++item) {
    const auto& [key, plan] = *item;
    const auto depth = static_cast<std::ptrdiff_t>(subgraph.path.size());
    if (key.node != subgraph.node || key.path.size() <= subgraph.path.size() ||
        !std::equal(subgraph.path.begin(), subgraph.path.end(), key.path.begin()))
      break;
    result[{key.path[subgraph.path.size()], {key.path.begin() + depth + 1, key.path.end()}}] = plan;
  }
  return result;
}

void add_plans_within(Plans& plans, const StepKey& subgraph, const Plans& own) {
  for (const auto& [key, plan] : own) {
    StepKey whole = subgraph.piece(key.node);
    whole.path.insert(whole.path.end(), key.path.begin(), key.path.end());
    plans[std::move(whole)] = plan;
  }
}

}  // namespace hone::engine
