// See partitioned_executable.hpp.
#include "backend/partition/partitioned_executable.hpp"

#include <algorithm>
#include <set>

#include "backend/inputs.hpp"
#include "backend/partition/regions.hpp"
#include "base/clock.hpp"
#include "graph/infer.hpp"

namespace hone::backend::partition {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;
using tensor::Tensor;

/// Sets of shapes whose blocks are kept, where they hold for one set each.
constexpr size_t kMostLoaded = 4;

bool binds_fully(const Graph& graph, const std::map<std::string, tensor::Shape>& shapes) {
  return std::all_of(graph.inputs.begin(), graph.inputs.end(), [&](ValueId id) {
    return graph.value(id).type.fully_known() || shapes.contains(graph.value(id).name);
  });
}

/// Of the inputs of a block; nullopt where one is only known when it runs.
std::optional<std::map<std::string, tensor::Shape>> known_shapes(const Graph& block) {
  std::map<std::string, tensor::Shape> shapes;
  for (const ValueId id : block.inputs) {
    const graph::Value& value = block.value(id);
    if (!value.type.fully_known()) return std::nullopt;
    tensor::Shape& shape = shapes[value.name];
    for (const graph::Dim& dim : *value.type.dims) shape.push_back(dim.value());
  }
  return shapes;
}

/// The block's number, from its name.
size_t number_of(const Node& region) {
  return std::stoul(region.name.substr(std::string_view("block").size()));
}

}  // namespace

struct PartitionedExecutable::Loaded {
  struct Part {
    size_t block = 0;
    const Node* region = nullptr;
    importer::Model model;
    std::vector<ValueId> arguments;  ///< of the region, without constants
    std::vector<ValueId> dying;      ///< values that nobody reads after it
    std::unique_ptr<Executable> executable;
  };

  Graph graph;
  std::vector<Part> parts;
};

PartitionedExecutable::PartitionedExecutable(PartitionedModel model, const LoadOptions& options)
    : model_(std::move(model)), options_(options), block_us_(model_.blocks.size(), 0) {
  for (const std::string& name : model_.backends) {
    backends_.push_back(make_backend(name));
    backends_.back()->require_device(options.device);
  }
  if (!binds_fully(*model_.graph, options.input_shapes)) return;
  std::map<std::string, tensor::Shape> shapes = options.input_shapes;
  for (const ValueId id : model_.graph->inputs) {
    const graph::Value& value = model_.graph->value(id);
    if (!value.type.fully_known()) continue;
    tensor::Shape& shape = shapes[value.name];
    shape.clear();
    for (const graph::Dim& dim : *value.type.dims) shape.push_back(dim.value());
  }
  loaded_for(shapes);
}

PartitionedExecutable::~PartitionedExecutable() = default;

PartitionedExecutable::Loaded& PartitionedExecutable::loaded_for(
    const std::map<std::string, tensor::Shape>& shapes) {
  shapes_ = shapes;
  if (for_all_shapes_) return *loaded_.front().second;
  const auto known =
      std::find_if(loaded_.begin(), loaded_.end(), [&](const auto& entry) { return entry.first == shapes; });
  if (known != loaded_.end()) {
    std::rotate(loaded_.begin(), known, known + 1);
    return *loaded_.front().second;
  }
  const Graph bound = graph::with_input_shapes(*model_.graph, shapes);
  size_t folded = 0;
  size_t folded_for_all = 0;
  with_regions(bound, model_.blocks, model_.backends, &folded);
  with_regions(*model_.graph, model_.blocks, model_.backends, &folded_for_all);
  const bool for_all = folded == folded_for_all;
  loaded_.insert(loaded_.begin(), {shapes, make(bound, for_all ? *model_.graph : bound)});
  if (loaded_.size() > kMostLoaded) loaded_.pop_back();
  for_all_shapes_ = for_all;
  return *loaded_.front().second;
}

std::unique_ptr<PartitionedExecutable::Loaded> PartitionedExecutable::make(const Graph& bound,
                                                                           const Graph& typed) const {
  auto loaded = std::make_unique<Loaded>();
  loaded->graph = with_regions(typed, model_.blocks, model_.backends);
  const Graph shaped = with_regions(bound, model_.blocks, model_.backends);
  std::vector<int64_t> last(loaded->graph.values.size(), -1);
  for (size_t i = 0; i < loaded->graph.nodes.size(); ++i) {
    const Node& region = loaded->graph.nodes[i];
    Loaded::Part& part = loaded->parts.emplace_back();
    part.block = number_of(region);
    part.region = &region;
    part.model = block_model(loaded->graph, region);
    part.model.name = model_.name + " " + region.name;
    for (const ValueId id : region.inputs) {
      if (loaded->graph.value(id).constant) continue;
      part.arguments.push_back(id);
      last[static_cast<size_t>(id)] = static_cast<int64_t>(i);
    }
    const auto shapes = known_shapes(*block_model(shaped, shaped.nodes[i]).graph);
    if (!shapes) continue;
    LoadOptions options = options_;
    options.input_shapes = *shapes;
    const Block& block = model_.blocks[part.block];
    try {
      part.executable = backends_[static_cast<size_t>(block.backend)]->load(part.model, options);
    } catch (const Error& error) {
      throw error.within(
          fmt::format("{} on {}", region.name, model_.backends[static_cast<size_t>(block.backend)]));
    }
  }
  for (const ValueId id : loaded->graph.outputs) last[static_cast<size_t>(id)] = -1;
  for (size_t id = 0; id < last.size(); ++id) {
    if (last[id] >= 0) loaded->parts[static_cast<size_t>(last[id])].dying.push_back(static_cast<ValueId>(id));
  }
  return loaded;
}

std::vector<Tensor> PartitionedExecutable::run(std::span<const Tensor> inputs) {
  check_inputs(*model_.graph, inputs);
  Loaded& loaded = loaded_for(shapes_by_name(*model_.graph, inputs));
  std::vector<Tensor> values(loaded.graph.values.size());
  for (size_t i = 0; i < inputs.size(); ++i) values[static_cast<size_t>(loaded.graph.inputs[i])] = inputs[i];
  std::vector<Tensor> arguments;
  for (Loaded::Part& part : loaded.parts) {
    const Block& block = model_.blocks[part.block];
    const auto start = base::Clock::now();
    arguments.clear();
    for (const ValueId id : part.arguments) arguments.push_back(values[static_cast<size_t>(id)]);
    try {
      if (part.executable == nullptr) {
        LoadOptions options = options_;
        options.input_shapes = shapes_by_name(*part.model.graph, arguments);
        // Data decide them, which are others in the next run.
        options.only_these_shapes = false;
        part.executable = backends_[static_cast<size_t>(block.backend)]->load(part.model, options);
      }
      std::vector<Tensor> results = part.executable->run(arguments);
      for (size_t i = 0; i < results.size(); ++i)
        values[static_cast<size_t>(part.region->outputs[i])] = std::move(results[i]);
    } catch (const Error& error) {
      throw error.within(
          fmt::format("{} on {}", part.region->name, model_.backends[static_cast<size_t>(block.backend)]));
    }
    for (const ValueId id : part.dying) values[static_cast<size_t>(id)] = Tensor();
    block_us_[part.block] = 1e6 * base::seconds_since(start);
  }
  std::vector<Tensor> outputs;
  for (const ValueId id : loaded.graph.outputs) {
    const Tensor* constant = loaded.graph.constant(id);
    outputs.push_back(constant != nullptr ? *constant : values[static_cast<size_t>(id)]);
  }
  return outputs;
}

/// PyTorch's observer watches all of a process; others tell of one executable only.
std::unique_ptr<Observer> PartitionedExecutable::observe(const ObserveOptions& options) {
  if (loaded_.empty()) return nullptr;
  for (const Loaded::Part& part : loaded_.front().second->parts) {
    if (part.executable == nullptr) continue;
    if (auto observer = part.executable->observe(options)) return observer;
  }
  return nullptr;
}

bool PartitionedExecutable::was_tuned() const {
  return !loaded_.empty() && std::any_of(loaded_.front().second->parts.begin(),
                                         loaded_.front().second->parts.end(), [](const Loaded::Part& part) {
                                           return part.executable != nullptr && part.executable->was_tuned();
                                         });
}

MemoryUse PartitionedExecutable::memory() const {
  MemoryUse sum;
  if (loaded_.empty()) return sum;
  for (const Loaded::Part& part : loaded_.front().second->parts) {
    if (part.executable == nullptr) continue;
    const MemoryUse use = part.executable->memory();
    sum.weights += use.weights;
    sum.activations += use.activations;
  }
  return sum;
}

std::vector<std::vector<StepInfo>> PartitionedExecutable::block_steps() const {
  std::vector<std::vector<StepInfo>> steps(model_.blocks.size());
  if (loaded_.empty()) return steps;
  for (const Loaded::Part& part : loaded_.front().second->parts) {
    if (part.executable != nullptr) steps[part.block] = part.executable->steps();
  }
  return steps;
}

std::vector<StepInfo> PartitionedExecutable::steps() const {
  std::vector<StepInfo> all;
  std::map<std::string, int32_t> step_of;
  const std::vector<std::vector<StepInfo>> blocks = block_steps();
  for (size_t block = 0; block < blocks.size(); ++block) {
    const auto first = static_cast<int32_t>(all.size());
    const std::string& backend = model_.backends[static_cast<size_t>(model_.blocks[block].backend)];
    for (StepInfo step : blocks[block]) {
      step.tactic = step.tactic.empty() ? backend : backend + ": " + step.tactic;
      for (int32_t& from : step.predecessors) from += first;
      for (const std::string& source : step.sources) step_of[source] = static_cast<int32_t>(all.size());
      all.push_back(std::move(step));
    }
  }
  // What a step reads of another block's, its nodes tell.
  const auto find = [&](const Node& node) {
    for (const std::string& source : node.sources) {
      if (const auto found = step_of.find(source); found != step_of.end()) return found->second;
    }
    return -1;
  };
  const std::vector<std::vector<int32_t>> predecessors = graph::node_predecessors(*model_.graph);
  for (size_t node = 0; node < predecessors.size(); ++node) {
    const int32_t step = find(model_.graph->nodes[node]);
    if (step < 0) continue;
    std::set<int32_t> from(all[static_cast<size_t>(step)].predecessors.begin(),
                           all[static_cast<size_t>(step)].predecessors.end());
    for (const int32_t before : predecessors[node]) {
      const int32_t source = find(model_.graph->nodes[static_cast<size_t>(before)]);
      if (source >= 0 && source < step) from.insert(source);
    }
    all[static_cast<size_t>(step)].predecessors.assign(from.begin(), from.end());
  }
  return all;
}

std::optional<double> PartitionedExecutable::predicted_ms() const {
  if (shapes_ != model_.predicted_shapes) return std::nullopt;
  return model_.predicted_ms;
}

std::vector<std::string> PartitionedExecutable::notes() const {
  std::map<std::string, int64_t> blocks;
  for (const Block& block : model_.blocks) ++blocks[model_.backends[static_cast<size_t>(block.backend)]];
  std::vector<std::string> notes;
  for (const auto& [backend, count] : blocks)
    notes.push_back(fmt::format("{} {} on {}", count, count == 1 ? "block runs" : "blocks run", backend));
  if (loaded_.empty()) return notes;
  std::set<std::string> told;
  for (const Loaded::Part& part : loaded_.front().second->parts) {
    if (part.executable == nullptr) continue;
    for (const std::string& note : part.executable->notes()) {
      if (told.insert(note).second) notes.push_back(fmt::format("{}: {}", part.region->name, note));
    }
  }
  return notes;
}

}  // namespace hone::backend::partition
