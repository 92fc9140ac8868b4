// See subject.hpp.
#include "bench/worker/subject.hpp"

#include <filesystem>

#include "backend/hone/int8_model.hpp"
#include "base/error.hpp"
#include "engine/engine_file.hpp"
#include "engine/fixed_cache_runs.hpp"
#include "engine/numeric_policy.hpp"

namespace hone::bench {
namespace {

/// The graph with fixed dimensions if the engine accepts only one size. It has no constants, because the
/// engine keeps most of them only in packed form; it describes the engine and cannot be run.
std::shared_ptr<const graph::Graph> narrowed_graph(const engine::Engine& engine) {
  auto graph = std::make_shared<graph::Graph>(*engine.graph);
  for (graph::Value& value : graph->values) value.constant.reset();
  for (const graph::ValueId id : graph->inputs) {
    graph::Value& value = graph->value(id);
    const auto found = engine.shapes.find(value.name);
    if (found == engine.shapes.end() || !value.type.ranked()) continue;
    const engine::ShapeProfile& profile = found->second;
    graph::Dims& dims = *value.type.dims;
    for (size_t i = 0; i < dims.size() && i < profile.min.size(); ++i) {
      if (profile.min[i] == profile.max[i]) dims[i] = graph::Dim(profile.min[i]);
    }
  }
  return graph;
}

/// The name of the engine's first policy, in the form of setups.
std::string precision_of(const engine::Engine& engine) {
  // bf16 counts as such whether the CPU has instructions for it or emulates it ("bf16-emulated").
  const std::string_view policy = engine::policy_name(engine.policies.front());
  const std::string own(policy.substr(0, policy.find('-')));
  if (!engine.metadata.contains(std::string(backend::kQuantizationNote))) return own;
  return own == "fp32" ? "int8" : "int8+" + own;
}

}  // namespace

std::shared_ptr<const engine::Engine> load_engine_subject(const std::string& spec) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(spec, unknown) || !engine::is_engine_file(spec)) return nullptr;
  std::shared_ptr<const engine::Engine> engine = engine::load_engine(spec);
  if (engine::fixed_caches_of(*engine))
    fail_usage("{} binds its caches; measure the model that it was built from with --bind and --context",
               spec);
  return engine;
}

importer::Model load_subject(const std::string& spec, const importer::LoadModelOptions& options) {
  const auto engine = load_engine_subject(spec);
  if (engine == nullptr) return importer::load_model(spec, options);
  if (!options.weights.empty())
    fail_usage("--weights goes with a built-in architecture; {} brings its own", spec);
  if (!options.sizes.empty())
    fail_usage("--dim is for a model; {} is an engine, which was built with its sizes", spec);
  return {std::filesystem::path(spec).stem().string(), spec, narrowed_graph(*engine), engine->metadata};
}

ModelInfo describe_subject(const importer::Model& model, const std::string& spec,
                           const std::map<std::string, tensor::Shape>& shapes) {
  const auto engine = load_engine_subject(spec);
  if (engine == nullptr) return describe_model(model, spec, shapes);
  std::map<std::string, tensor::Shape> tuned = shapes;
  for (const auto& [name, profile] : engine->shapes) tuned.try_emplace(name, profile.opt);
  ModelInfo info = describe_model(model, spec, tuned);
  info.engine_precision = precision_of(*engine);
  info.has_graph = false;
  for (const InputInfo& input : info.inputs) {
    if (input.batched && info.tuned_batch == 0) info.tuned_batch = tuned.at(input.name).front();
  }
  return info;
}

}  // namespace hone::bench
