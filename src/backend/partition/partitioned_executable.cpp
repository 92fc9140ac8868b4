// See partitioned_executable.hpp.
#include "backend/partition/partitioned_executable.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "backend/inputs.hpp"
#include "backend/partition/placement.hpp"
#include "backend/partition/regions.hpp"
#include "backend/partition/step_profile.hpp"
#include "backend/registry.hpp"
#include "base/clock.hpp"
#include "graph/infer.hpp"

namespace hone::backend::partition {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;
using tensor::Tensor;

/// Number of sets of shapes for which blocks are kept, if blocks are loaded for a single set each.
constexpr size_t kMostLoaded = 4;

bool binds_fully(const Graph& graph, const std::map<std::string, tensor::Shape>& shapes) {
  return std::all_of(graph.inputs.begin(), graph.inputs.end(), [&](ValueId id) {
    return graph.value(id).type.fully_known() || shapes.contains(graph.value(id).name);
  });
}

/// Shapes of a block's inputs; nullopt if one is known only at run time.
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

/// The index of the block, parsed from its name.
size_t number_of(const Node& region) {
  return std::stoul(region.name.substr(std::string_view("block").size()));
}

}  // namespace

/// One loaded block.
struct PartitionedExecutable::Part {
  size_t block = 0;
  const Node* region = nullptr;
  importer::Model model;
  std::vector<ValueId> arguments;  ///< arguments of the region, without constants
  std::vector<ValueId> dying;      ///< values that no later block reads
  std::unique_ptr<Executable> executable;
  /// Runs of the block's executable, which must outlive them; null if values pass through the host.
  std::unique_ptr<BoundRuns> runs;
  /// The reason why values pass through the host on a GPU, for a backend that binds.
  std::string detour;
};

struct PartitionedExecutable::Loaded {
  Graph graph;
  /// For each value, the memory that bound blocks use for it; undefined if none does.
  std::vector<tensor::TensorView> places;
  std::vector<Part> parts;
  /// State of the current run, for each value: the tensor on the host, undefined if it is not there, and
  /// whether its memory on the GPU holds it.
  std::vector<Tensor> values;
  std::vector<bool> in_place;
};

PartitionedExecutable::PartitionedExecutable(PartitionedModel model, const LoadOptions& options)
    : model_(std::move(model)), options_(options), block_us_(model_.blocks.size(), 0) {
  const tensor::Place place = tensor::parse_place(options.device);
  bool any_binds = false;
  for (const std::string& name : model_.backends) {
    backends_.push_back(make_backend(name));
    backends_.back()->require_device(device_of(*backends_.back(), options.device));
    any_binds = any_binds || backends_.back()->binds();
  }
  if (place.kind != tensor::PlaceKind::kCpu && any_binds) exchange_ = std::make_unique<DeviceExchange>(place);
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

const std::string& PartitionedExecutable::backend_name(size_t block) const {
  return model_.backends[static_cast<size_t>(model_.blocks[block].backend)];
}

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
  // Memory on a GPU has a fixed size.
  const bool for_all = folded == folded_for_all && exchange_ == nullptr;
  loaded_.insert(loaded_.begin(), {shapes, make(bound, for_all ? *model_.graph : bound)});
  if (loaded_.size() > kMostLoaded) loaded_.pop_back();
  for_all_shapes_ = for_all;
  return *loaded_.front().second;
}

std::unique_ptr<PartitionedExecutable::Loaded> PartitionedExecutable::make(const Graph& bound,
                                                                           const Graph& typed) {
  auto loaded = std::make_unique<Loaded>();
  loaded->graph = with_regions(typed, model_.blocks, model_.backends);
  loaded->places.resize(loaded->graph.values.size());
  loaded->values.resize(loaded->graph.values.size());
  loaded->in_place.resize(loaded->graph.values.size());
  loaded->parts.resize(loaded->graph.nodes.size());
  const Graph shaped = with_regions(bound, model_.blocks, model_.backends);
  std::vector<int64_t> last(loaded->graph.values.size(), -1);
  for (size_t i = 0; i < loaded->graph.nodes.size(); ++i) {
    const Node& region = loaded->graph.nodes[i];
    Part& part = loaded->parts[i];
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
    try {
      part.executable = load(part, *shapes, options_.only_these_shapes);
      bind(*loaded, part);
    } catch (const Error& error) {
      throw error.within(fmt::format("{} on {}", region.name, backend_name(part.block)));
    }
  }
  // The caller owns the graph's inputs and outputs.
  for (const auto* kept : {&loaded->graph.outputs, &loaded->graph.inputs}) {
    for (const ValueId id : *kept) last[static_cast<size_t>(id)] = -1;
  }
  for (size_t id = 0; id < last.size(); ++id) {
    if (last[id] >= 0) loaded->parts[static_cast<size_t>(last[id])].dying.push_back(static_cast<ValueId>(id));
  }
  return loaded;
}

std::unique_ptr<Executable> PartitionedExecutable::load(const Part& part,
                                                        const std::map<std::string, tensor::Shape>& shapes,
                                                        bool only_these) {
  Backend& backend = *backends_[static_cast<size_t>(model_.blocks[part.block].backend)];
  LoadOptions options = options_;
  options.input_shapes = shapes;
  options.only_these_shapes = only_these;
  // These are shapes and caches of the whole model.
  options.profiles.clear();
  options.bind.clear();
  options.context = 0;
  options.device = device_of(backend, options_.device);
  // The precision was requested for the GPU.
  if (options.device != options_.device) options.precision = Precision::kFp32;
  return backend.load(part.model, options);
}

void PartitionedExecutable::bind(Loaded& loaded, Part& part) {
  if (exchange_ == nullptr || !backends_[static_cast<size_t>(model_.blocks[part.block].backend)]->binds())
    return;
  const auto type_of = [&](ValueId id) -> const graph::TensorType& { return loaded.graph.value(id).type; };
  for (const auto* ids : {&std::as_const(part.arguments), &part.region->outputs}) {
    for (const ValueId id : *ids) {
      if (type_of(id).fully_known()) continue;
      part.detour = fmt::format("the shape of '{}' is known only when it runs", loaded.graph.value(id).name);
      return;
    }
  }
  std::vector<tensor::TensorView> inputs;
  for (const ValueId id : part.arguments) {
    tensor::TensorView& place = loaded.places[static_cast<size_t>(id)];
    if (!place.defined()) {
      place.dtype = type_of(id).dtype;
      for (const graph::Dim& dim : *type_of(id).dims) place.shape.push_back(dim.value());
      place.buffer = exchange_->allocate(tensor::element_count(place.shape) *
                                         static_cast<int64_t>(tensor::dtype_size(place.dtype)));
    }
    inputs.push_back(place);
  }
  Bound bound = part.executable->bind(inputs, *exchange_);
  part.detour = bound.refusal.text();
  if (bound.runs == nullptr) return;
  part.runs = std::move(bound.runs);
  for (size_t i = 0; i < part.region->outputs.size(); ++i)
    loaded.places[static_cast<size_t>(part.region->outputs[i])] = part.runs->outputs()[i];
  // The next block may read its inputs while it is bound.
  part.runs->submit();
  exchange_->synchronize();
}

std::vector<Tensor> PartitionedExecutable::run(std::span<const Tensor> inputs) {
  give_inputs(inputs);
  execute();
  return download();
}

void PartitionedExecutable::upload(std::span<const Tensor> inputs) {
  give_inputs(inputs);
  if (exchange_ == nullptr) return;
  for (const ValueId id : current_->graph.inputs) {
    const auto index = static_cast<size_t>(id);
    if (!current_->places[index].defined()) continue;
    exchange_->copy_to_device(current_->values[index], current_->places[index].buffer);
    current_->in_place[index] = true;
  }
  exchange_->synchronize();
}

void PartitionedExecutable::execute() {
  run_parts(/*apart=*/false);
  if (exchange_ != nullptr) exchange_->synchronize();
}

void PartitionedExecutable::execute_apart() { run_parts(/*apart=*/true); }

std::vector<Tensor> PartitionedExecutable::download() {
  std::vector<Tensor> outputs;
  for (const ValueId id : current_->graph.outputs) {
    const Tensor* constant = current_->graph.constant(id);
    outputs.push_back(constant != nullptr ? *constant : on_host(*current_, id));
  }
  return outputs;
}

void PartitionedExecutable::give_inputs(std::span<const Tensor> inputs) {
  check_inputs(*model_.graph, inputs);
  current_ = &loaded_for(shapes_by_name(*model_.graph, inputs));
  std::fill(current_->values.begin(), current_->values.end(), Tensor());
  std::fill(current_->in_place.begin(), current_->in_place.end(), false);
  for (size_t i = 0; i < inputs.size(); ++i)
    current_->values[static_cast<size_t>(current_->graph.inputs[i])] = inputs[i];
}

const Tensor& PartitionedExecutable::on_host(Loaded& loaded, ValueId id) {
  const auto index = static_cast<size_t>(id);
  Tensor& value = loaded.values[index];
  if (loaded.in_place[index] && !value.defined()) {
    const tensor::TensorView& place = loaded.places[index];
    value = exchange_->copy_to_host(place.buffer, place.dtype, place.shape);
  }
  return value;
}

void PartitionedExecutable::run_parts(bool apart) {
  for (Part& part : current_->parts) {
    const bool timed_there = apart && part.runs != nullptr;
    const auto start = base::Clock::now();
    const auto begin = timed_there ? exchange_->record() : nullptr;
    try {
      run_part(*current_, part);
      const auto end = timed_there ? exchange_->record() : nullptr;
      if (apart && exchange_ != nullptr) exchange_->synchronize();
      block_us_[part.block] =
          timed_there ? DeviceExchange::microseconds_between(*begin, *end) : 1e6 * base::seconds_since(start);
    } catch (const Error& error) {
      throw error.within(fmt::format("{} on {}", part.region->name, backend_name(part.block)));
    }
  }
}

void PartitionedExecutable::run_part(Loaded& loaded, Part& part) {
  if (part.runs == nullptr) return run_on_host(loaded, part);
  for (const ValueId id : part.arguments) {
    const auto index = static_cast<size_t>(id);
    if (loaded.in_place[index]) continue;
    exchange_->copy_to_device(loaded.values[index], loaded.places[index].buffer);
    loaded.in_place[index] = true;
  }
  part.runs->submit();
  for (const ValueId id : part.region->outputs) {
    loaded.values[static_cast<size_t>(id)] = Tensor();
    loaded.in_place[static_cast<size_t>(id)] = true;
  }
}

void PartitionedExecutable::run_on_host(Loaded& loaded, Part& part) {
  std::vector<Tensor> arguments;
  for (const ValueId id : part.arguments) arguments.push_back(on_host(loaded, id));
  // Shapes that depend on data may differ in the next run.
  if (part.executable == nullptr)
    part.executable = load(part, shapes_by_name(*part.model.graph, arguments), /*only_these=*/false);
  std::vector<Tensor> results = part.executable->run(arguments);
  for (size_t i = 0; i < results.size(); ++i) {
    const auto index = static_cast<size_t>(part.region->outputs[i]);
    loaded.values[index] = std::move(results[i]);
    loaded.in_place[index] = false;
  }
  // A copy to the GPU may still read the values.
  if (exchange_ != nullptr) return;
  for (const ValueId id : part.dying) loaded.values[static_cast<size_t>(id)] = Tensor();
}

/// PyTorch's observer watches the whole process; other observers watch only one executable.
std::unique_ptr<Observer> PartitionedExecutable::observe(const ObserveOptions& options) {
  if (loaded_.empty()) return nullptr;
  for (const Part& part : loaded_.front().second->parts) {
    if (part.executable == nullptr) continue;
    if (auto observer = part.executable->observe(options)) return observer;
  }
  return nullptr;
}

std::string PartitionedExecutable::bus_id() const {
  if (loaded_.empty()) return {};
  for (const Part& part : loaded_.front().second->parts) {
    if (std::string id = part.executable == nullptr ? "" : part.executable->bus_id(); !id.empty()) return id;
  }
  return {};
}

bool PartitionedExecutable::was_tuned() const {
  return !loaded_.empty() && std::any_of(loaded_.front().second->parts.begin(),
                                         loaded_.front().second->parts.end(), [](const Part& part) {
                                           return part.executable != nullptr && part.executable->was_tuned();
                                         });
}

MemoryUse PartitionedExecutable::memory() const {
  MemoryUse sum;
  if (loaded_.empty()) return sum;
  for (const Part& part : loaded_.front().second->parts) {
    if (part.executable == nullptr) continue;
    const MemoryUse use = part.executable->memory();
    sum.weights += use.weights;
    sum.activations += use.activations;
    sum.engine_file += use.engine_file;
    sum.device.planned += use.device.planned;
  }
  return sum;
}

std::vector<std::vector<StepInfo>> PartitionedExecutable::block_steps() const {
  std::vector<std::vector<StepInfo>> steps(model_.blocks.size());
  if (loaded_.empty()) return steps;
  for (const Part& part : loaded_.front().second->parts) {
    if (part.executable != nullptr) steps[part.block] = part.executable->steps();
  }
  return steps;
}

std::vector<std::map<std::string, double>> PartitionedExecutable::profile_steps(int runs) {
  std::vector<std::map<std::string, double>> times(model_.blocks.size());
  execute();
  for (const Part& part : current_->parts) {
    std::vector<Tensor> arguments;
    for (const ValueId id : part.arguments) arguments.push_back(on_host(*current_, id));
    if (part.executable != nullptr)
      times[part.block] = partition::profile_steps(*part.executable, arguments, runs);
  }
  return times;
}

std::vector<StepInfo> PartitionedExecutable::steps() const {
  std::vector<StepInfo> all;
  std::map<std::string, int32_t> step_of;
  const std::vector<std::vector<StepInfo>> blocks = block_steps();
  for (size_t block = 0; block < blocks.size(); ++block) {
    const auto first = static_cast<int32_t>(all.size());
    const std::string& backend = backend_name(block);
    for (StepInfo step : blocks[block]) {
      step.tactic = step.tactic.empty() ? backend : backend + ": " + step.tactic;
      for (int32_t& from : step.predecessors) from += first;
      for (const std::string& source : step.sources) step_of[source] = static_cast<int32_t>(all.size());
      all.push_back(std::move(step));
    }
  }
  // The nodes of a step define the values of other blocks that it reads.
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
  for (const Part& part : loaded_.front().second->parts) {
    if (exchange_ != nullptr && part.runs == nullptr)
      notes.push_back(fmt::format("{}: values go over the host: {}", part.region->name,
                                  part.detour.empty() ? "its backend computes there, in fp32" : part.detour));
    if (part.executable == nullptr) continue;
    for (const std::string& note : part.executable->notes()) {
      if (told.insert(note).second) notes.push_back(fmt::format("{}: {}", part.region->name, note));
    }
  }
  return notes;
}

}  // namespace hone::backend::partition
