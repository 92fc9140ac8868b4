// See subgraph_search.hpp.
#include "engine/search/subgraph_search.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/search/tactic_search.hpp"
#include "engine/subgraph_plans.hpp"
#include "graph/subgraph.hpp"

namespace hone::engine {
namespace {

/// Share of the budget for all subgraphs together; the graph around them is the larger part.
constexpr double kSubgraphsShare = 0.4;
/// At this level there is one layout of images, and no batch groups.
constexpr int kMostLevel = 2;

/// A subgraph that is searched, and the node that contains it.
struct Subject {
  StepKey key;
  std::string name;
  std::shared_ptr<const graph::Graph> graph;
};

std::vector<Subject> subjects_of(const graph::Graph& bound) {
  std::vector<Subject> result;
  for (size_t i = 0; i < bound.nodes.size(); ++i) {
    const graph::Node& node = bound.nodes[i];
    if (!graph::controls_subgraphs(node) || graph::known_condition(bound, node)) continue;
    int32_t index = 0;
    for (const std::string& attribute : graph::subgraph_attributes(node)) {
      const StepKey key = StepKey{static_cast<int32_t>(i), {}}.piece(index++);
      try {
        const auto& body = *node.attributes.get<std::shared_ptr<graph::Graph>>(attribute);
        auto typed = std::make_shared<const graph::Graph>(
            graph::typed_subgraph(body, graph::subgraph_inputs(bound, node)));
        const bool is_open = std::any_of(typed->inputs.begin(), typed->inputs.end(), [&](graph::ValueId id) {
          return !typed->value(id).type.fully_known();
        });
        if (!is_open) result.push_back({key, subgraph_step_name(node.name, attribute), std::move(typed)});
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::kBadInput) throw;
      }
    }
  }
  return result;
}

}  // namespace

void search_subgraphs(Engine& engine, const graph::Graph& bound, const Device& device,
                      const BuildOptions& options, TimingCache& cache, const SearchBudget& budget) {
  const std::vector<Subject> subjects = subjects_of(bound);
  const SearchBudget all = budget.part(kSubgraphsShare);
  BuildOptions own = options;
  own.optimization_level = std::min(options.optimization_level, kMostLevel);
  for (size_t i = 0; i < subjects.size(); ++i) {
    const Subject& subject = subjects[i];
    Engine inner;
    inner.policies = engine.policies;
    inner.threads = engine.threads;
    inner.graph = subject.graph;
    inner.weights = std::move(engine.weights);
    const SearchBudget part = all.part(1.0 / static_cast<double>(subjects.size() - i));
    search_subgraphs(inner, *subject.graph, device, options, cache, part);
    Plans nested = std::move(inner.plans);
    search_tactics(inner, subject.graph, device, own, cache, part);
    inner.plans.merge(nested);
    engine.weights = std::move(inner.weights);
    add_plans_within(engine.plans, subject.key, inner.plans);
    engine.tuned = engine.tuned || inner.tuned;
    for (TacticRecord& record : inner.log) {
      record.step = fmt::format("{}/{}", subject.name, record.step);
      engine.log.push_back(std::move(record));
    }
    if (engine.cut_short.empty()) engine.cut_short = inner.cut_short;
  }
}

}  // namespace hone::engine
