// See builder.hpp.
#include "engine/builder.hpp"

#include <chrono>
#include <set>

#include "engine/context.hpp"
#include "engine/tactic_search.hpp"
#include "graph/infer.hpp"
#include "graph/verify.hpp"

namespace hone::engine {
namespace {

/// Constants are looked up by name in files and weight stores, so names must differ.
void make_constant_names_unique(graph::Graph& graph) {
  std::set<std::string> names;
  for (size_t i = 0; i < graph.values.size(); ++i) {
    graph::Value& value = graph.values[i];
    if (!value.constant) continue;
    if (value.name.empty() || !names.insert(value.name).second) {
      value.name += "#" + std::to_string(i);
      names.insert(value.name);
    }
  }
}

void check_profile(const graph::Value& input, const ShapeProfile& profile) {
  const auto fail = [&](const std::string& sentence) {
    fail_usage("shape range of input '{}': {}", input.name, sentence);
  };
  if (profile.min.size() != profile.opt.size() || profile.opt.size() != profile.max.size())
    fail("min, opt and max have different ranks");
  if (input.type.ranked() && input.type.dims->size() != profile.opt.size()) {
    fail(fmt::format("rank {} for an input {}", profile.opt.size(), input.type.text()));
  }
  for (size_t i = 0; i < profile.opt.size(); ++i) {
    if (profile.min[i] < 0 || profile.min[i] > profile.opt[i] || profile.opt[i] > profile.max[i]) {
      fail(fmt::format("dimension {} must hold min <= opt <= max, found {}, {}, {}", i, profile.min[i],
                       profile.opt[i], profile.max[i]));
    }
    if (!input.type.ranked()) continue;
    const graph::Dim& dim = (*input.type.dims)[i];
    if (dim.known() && (profile.min[i] != dim.value() || profile.max[i] != dim.value())) {
      fail(fmt::format("dimension {} is {} in the model, found {} to {}", i, dim.value(), profile.min[i],
                       profile.max[i]));
    }
  }
}

/// The shapes to tune for.
std::map<std::string, Shape> tuning_shapes(const graph::Graph& graph, const BuildOptions& options) {
  std::set<std::string> known;
  std::map<std::string, Shape> shapes;
  for (const graph::ValueId id : graph.inputs) {
    const graph::Value& input = graph.value(id);
    known.insert(input.name);
    if (const auto found = options.shapes.find(input.name); found != options.shapes.end()) {
      check_profile(input, found->second);
      shapes[input.name] = found->second.opt;
      continue;
    }
    if (!input.type.ranked())
      fail_usage("input '{}' has no known rank; name its shape with --optShapes", input.name);
    Shape shape;
    for (const graph::Dim& dim : *input.type.dims)
      shape.push_back(dim.known() ? dim.value() : options.default_batch);
    shapes[input.name] = std::move(shape);
  }
  for (const auto& [name, profile] : options.shapes) {
    if (!known.contains(name)) fail_usage("the model has no input named '{}'", name);
  }
  return shapes;
}

/// Drops packed weights that no chosen kernel holds.
void trim_weights(Engine& engine, const std::map<std::string, Shape>& shapes, const Device& device) {
  auto shared = std::shared_ptr<Engine>(&engine, [](Engine*) {});
  Context context(shared, device, engine.threads);
  std::vector<Shape> ordered;
  for (const graph::ValueId id : engine.graph->inputs)
    ordered.push_back(shapes.at(engine.graph->value(id).name));
  engine.weights.keep_only(context.program(ordered).packed());
}

}  // namespace

std::shared_ptr<Engine> build_engine(const graph::Graph& graph, const Device& device,
                                     const BuildOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  auto engine = std::make_shared<Engine>();
  engine->model = options.model;
  engine->metadata = options.metadata;
  engine->fingerprint = device.fingerprint();
  engine->hone_version = HONE_VERSION;
  engine->precision = options.precision;
  engine->threads = options.threads;
  engine->shapes = options.shapes;
  device.set_threads(options.threads);

  graph::Graph optimised = graph;
  engine->passes = transform::optimize(
      optimised, {.disabled = options.disabled_passes, .requested = device.passes(options.precision)});
  make_constant_names_unique(optimised);
  engine->graph = std::make_shared<const graph::Graph>(std::move(optimised));

  const auto shapes = tuning_shapes(*engine->graph, options);
  auto bound = std::make_shared<const graph::Graph>(graph::with_input_shapes(*engine->graph, shapes));
  engine->layout = device.image_layouts(options.precision).front();
  if (options.optimization_level > 0) {
    TimingCache cache(options.cache_folder, engine->fingerprint, options.threads);
    search_tactics(*engine, bound, device, options, cache);
    cache.save();
  }
  trim_weights(*engine, shapes, device);
  engine->build_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return engine;
}

}  // namespace hone::engine
