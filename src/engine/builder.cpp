// See builder.hpp.
#include "engine/builder.hpp"

#include <algorithm>
#include <set>

#include "engine/complete_profiles.hpp"
#include "engine/context.hpp"
#include "engine/loaded_engine.hpp"
#include "engine/search/subgraph_search.hpp"
#include "engine/search/tactic_search.hpp"
#include "engine/subgraph_plans.hpp"
#include "graph/infer.hpp"
#include "graph/subgraph.hpp"
#include "graph/verify.hpp"
#include "transform/bounded_slices.hpp"

namespace hone::engine {
namespace {

/// Makes the names of constants unique, also in subgraphs, because files and weight stores identify constants
/// by name. Constants with shared data may share a name, because they also share their packed forms.
class UniqueNames {
 public:
  void make(graph::Graph& graph) {
    for (graph::Value& value : graph.values) {
      if (value.constant && !take(value.name, *value.constant)) rename(value);
    }
    for (graph::Node& node : graph.nodes) {
      if (!graph::controls_subgraphs(node)) continue;
      for (const std::string& attribute : graph::subgraph_attributes(node)) {
        auto copy =
            std::make_shared<graph::Graph>(*node.attributes.get<std::shared_ptr<graph::Graph>>(attribute));
        make(*copy);
        node.attributes.set(attribute, std::move(copy));
      }
    }
  }

 private:
  /// True if the constant may have this name.
  bool take(const std::string& name, const tensor::Tensor& constant) {
    if (name.empty()) return false;
    const auto [known, is_new] = names_.try_emplace(name, constant);
    if (is_new) return true;
    const tensor::Tensor& other = known->second;
    return constant.bytes() != nullptr && constant.bytes() == other.bytes() &&
           constant.dtype() == other.dtype() && constant.shape() == other.shape();
  }

  void rename(graph::Value& value) {
    const std::string stem = value.name;
    do {
      value.name = fmt::format("{}#{}", stem, next_++);
    } while (!take(value.name, *value.constant));
  }

  std::map<std::string, tensor::Tensor> names_;
  size_t next_ = 0;
};

/// The batch for which the profiles are tuned; 0 if inputs have different ones, or if a range of batches must
/// be supported.
int64_t usual_images(const std::map<std::string, ShapeProfile>& profiles) {
  std::set<int64_t> images;
  for (const auto& [name, profile] : profiles) {
    const bool one = !profile.opt.empty() && (profile.max[0] == kAnySize || profile.max[0] == profile.opt[0]);
    images.insert(one ? profile.opt[0] : 0);
  }
  return images.size() == 1 ? *images.begin() : 0;
}

/// True if no input has an open dimension.
bool is_bound(const graph::Graph& graph) {
  return std::all_of(graph.inputs.begin(), graph.inputs.end(),
                     [&](graph::ValueId id) { return graph.value(id).type.fully_known(); });
}

/// Adds the plans of the steps in subgraphs.
void add_subgraph_plans(Plans& plans, const Program& program) {
  for (const ProgramStep& step : program.steps()) {
    if (step.node_kernel == nullptr) continue;
    for (const SubgraphProgram& inner : step.node_kernel->programs()) {
      Plans own = inner.program->dissolved();
      for (const ProgramStep& part : inner.program->steps()) {
        if (part.node >= 0 && part.kernel != nullptr) own[part.key()] = part.plan;
      }
      add_subgraph_plans(own, *inner.program);
      add_plans_within(plans, step.key().piece(inner.index), own);
    }
  }
}

/// Removes packed weights that no chosen kernel uses and, if there are plans, records those of pieces that
/// run.
void settle(Engine& engine, const std::map<std::string, Shape>& shapes, const Device& device) {
  std::vector<Shape> ordered;
  for (const graph::ValueId id : engine.graph->inputs)
    ordered.push_back(shapes.at(engine.graph->value(id).name));
  const auto program = compile(engine, device, program_shapes(engine, ordered), engine.weights);
  engine.weights.keep_only(program->packed());
  if (engine.plans.empty()) return;
  std::erase_if(engine.plans, [](const auto& item) { return !item.first.path.empty(); });
  for (const ProgramStep& step : program->steps()) {
    if (step.is_piece() && step.node_kernel == nullptr) engine.plans[step.key()] = step.plan;
  }
  add_subgraph_plans(engine.plans, *program);
}

/// True if every input has exactly one possible shape.
bool is_fixed(const std::map<std::string, ShapeProfile>& profiles) {
  return std::all_of(profiles.begin(), profiles.end(), [](const auto& item) {
    return item.second.min == item.second.opt && item.second.max == item.second.opt;
  });
}

/// The largest sizes of symbols that have one.
std::map<std::string, int64_t> largest_sizes(const graph::Graph& graph,
                                             const std::map<std::string, ShapeProfile>& profiles) {
  std::map<std::string, int64_t> largest;
  for (const graph::ValueId id : graph.inputs) {
    const graph::Value& input = graph.value(id);
    const auto profile = profiles.find(input.name);
    if (profile == profiles.end() || !input.type.ranked()) continue;
    for (size_t i = 0; i < input.type.dims->size(); ++i) {
      const std::string& symbol = (*input.type.dims)[i].symbol();
      if (symbol.empty()) continue;
      int64_t& size = largest.try_emplace(symbol, profile->second.max[i]).first->second;
      size = std::max(size, profile->second.max[i]);
    }
  }
  return largest;
}

/// Runs the passes. If only one set of shapes is possible, conditions are decided and values that depend only
/// on shapes become constants; but if the device runs large batches in groups, the batch stays open.
graph::Graph optimised(const graph::Graph& graph, const std::map<std::string, Shape>& shapes,
                       const transform::PassOptions& passes, const Device& device, Engine& engine) {
  graph::Graph open = graph;
  const transform::Summary bounded = transform::bounded_slices(open, largest_sizes(graph, engine.shapes));
  engine.passes = transform::optimize(open, passes);
  if (bounded.changes > 0) engine.passes.insert(engine.passes.begin(), bounded);
  if (!is_fixed(engine.shapes) || is_bound(graph)) return open;
  if (device.splits_batches() && splits_by_batch(open)) return open;
  graph::Graph bound = graph::with_input_shapes(graph, shapes);
  engine.passes = transform::optimize(bound, passes);
  return bound;
}

void add_finer_policies(const Device& device, Precision precision, std::vector<NumericPolicy>& policies) {
  for (const NumericPolicy& policy : device.finer_policies(precision)) {
    if (std::find(policies.begin(), policies.end(), policy) == policies.end()) policies.push_back(policy);
  }
}

}  // namespace

SearchBudget build_budget(const BuildOptions& options, const Device& device) {
  const double seconds = options.optimization_level > 3 ? SearchBudget::kNoLimit : device.search_seconds();
  return SearchBudget(options.budget_seconds.value_or(seconds), options.begin.value_or(base::Clock::now()));
}

std::shared_ptr<Engine> build_engine(const graph::Graph& graph, const Device& device,
                                     const BuildOptions& options) {
  const auto begin = base::Clock::now();
  const SearchBudget budget = build_budget(options, device);
  auto engine = std::make_shared<Engine>();
  engine->model = options.model;
  engine->metadata = options.metadata;
  engine->places = {{device.fingerprint()}};
  engine->hone_version = HONE_VERSION;
  engine->policies = {device.policy_for(options.precision)};
  for (const Precision other : options.other_precisions) engine->policies.push_back(device.policy_for(other));
  if (options.optimization_level > 0) add_finer_policies(device, options.precision, engine->policies);
  engine->threads = options.threads;
  device.set_threads(options.threads);

  engine->shapes = complete_profiles(graph, options.shapes, OpenDims::kAnySize, options.default_batch);
  std::map<std::string, Shape> shapes;
  for (const auto& [name, profile] : engine->shapes) shapes[name] = profile.opt;
  const transform::PassOptions passes{
      .disabled = options.disabled_passes,
      .requested = device.passes(options.precision, usual_images(engine->shapes))};
  graph::Graph result = optimised(graph, shapes, passes, device, *engine);
  UniqueNames().make(result);
  engine->graph = std::make_shared<const graph::Graph>(std::move(result));

  auto bound = std::make_shared<const graph::Graph>(graph::with_input_shapes(*engine->graph, shapes));
  engine->layout = device.image_layouts(options.precision).front();
  if (options.optimization_level > 0) {
    TimingCache cache =
        options.cache_file.empty()
            ? TimingCache(options.cache_folder, device.timing_fingerprint(), options.threads)
            : TimingCache::of_file(options.cache_file, device.timing_fingerprint(), options.threads);
    search_subgraphs(*engine, *bound, device, options, cache, budget);
    Plans inner = std::move(engine->plans);
    const std::string inner_cut_short = engine->cut_short;
    search_tactics(*engine, bound, device, options, cache, budget);
    engine->plans.merge(inner);
    if (engine->cut_short.empty()) engine->cut_short = inner_cut_short;
    cache.save();
  }
  settle(*engine, shapes, device);
  engine->build_seconds = base::seconds_since(begin);
  return engine;
}

}  // namespace hone::engine
