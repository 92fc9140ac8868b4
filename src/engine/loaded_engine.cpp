// See loaded_engine.hpp.
#include "engine/loaded_engine.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "graph/infer.hpp"

namespace hone::engine {

LoadedEngine::LoadedEngine(std::shared_ptr<const Engine> engine, const Device& device, int threads)
    : engine_(std::move(engine)),
      device_(device),
      threads_(threads),
      weights_(engine_->weights),
      packed_bytes_(weights_.total_bytes()) {
  for (const NumericPolicy& policy : engine_->policies) {
    if (!device.runs(policy))
      fail_bad_input("field 'policies' names {}, in which the device {} does not run", policy_name(policy),
                     device.name());
  }
}

std::shared_ptr<const Program> LoadedEngine::program(std::span<const Shape> shapes,
                                                     const std::vector<Layout>& layouts) {
  const std::vector<Shape> bound = program_shapes(*engine_, shapes);
  if (auto known = find(bound, layouts)) return known;
  const std::lock_guard compiling(compiling_);
  if (auto known = find(bound, layouts)) return known;
  device_.set_threads(threads_);
  std::shared_ptr<const Program> made = compile(*engine_, device_, bound, weights_, layouts);
  packed_bytes_ = weights_.total_bytes();
  const std::lock_guard lock(programs_mutex_);
  if (programs_.size() == kMaxPrograms) programs_.erase(programs_.begin());
  programs_.push_back({bound, layouts, made});
  return made;
}

std::shared_ptr<const Program> LoadedEngine::find(const std::vector<Shape>& shapes,
                                                  const std::vector<Layout>& layouts) {
  const std::lock_guard lock(programs_mutex_);
  const auto known = std::find_if(programs_.begin(), programs_.end(), [&](const Entry& entry) {
    return entry.shapes == shapes && entry.layouts == layouts;
  });
  if (known == programs_.end()) return nullptr;
  std::rotate(known, known + 1, programs_.end());
  return programs_.back().program;
}

std::vector<Shape> program_shapes(const Engine& engine, std::span<const Shape> shapes) {
  std::vector<Shape> bound(shapes.begin(), shapes.end());
  if (engine.micro_batch <= 0 || bound.empty() || bound[0].empty()) return bound;
  const int64_t batch = bound[0][0];
  const bool one_batch = std::all_of(bound.begin(), bound.end(),
                                     [&](const Shape& shape) { return !shape.empty() && shape[0] == batch; });
  if (!one_batch || batch <= engine.micro_batch) return bound;
  for (Shape& shape : bound) shape[0] = engine.micro_batch;
  return bound;
}

std::unique_ptr<Program> compile(const Engine& engine, const Device& device, const std::vector<Shape>& shapes,
                                 WeightStore& weights, const std::vector<Layout>& input_layouts) {
  std::map<std::string, Shape> named;
  for (size_t i = 0; i < shapes.size(); ++i)
    named[engine.graph->value(engine.graph->inputs[i]).name] = shapes[i];
  auto bound = std::make_shared<const graph::Graph>(graph::with_input_shapes(*engine.graph, named));
  return build_program(std::move(bound), device, weights,
                       {.policy = engine.policy(),
                        .layout = engine.layout,
                        .input_layouts = input_layouts,
                        .plans = engine.plans});
}

}  // namespace hone::engine
