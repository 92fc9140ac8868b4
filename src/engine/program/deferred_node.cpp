// See deferred_node.hpp.
#include "engine/program/deferred_node.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "engine/program/executor.hpp"
#include "engine/program/host_functions.hpp"
#include "engine/program/program.hpp"
#include "graph/infer.hpp"
#include "graph/operator.hpp"
#include "reference/kernel.hpp"

namespace hone::engine {
namespace {

using graph::kNoValue;
using graph::ValueId;
using tensor::Tensor;

/// Limit on the programs of a node; a new one replaces the least recently used one.
constexpr size_t kMostPrograms = 64;
/// If inputs and outputs together have at most this number of elements, the reference kernel is as fast as
/// others.
constexpr int64_t kSmallElements = 128;
/// The longest list of numbers that may determine a shape.
constexpr int64_t kListElements = 64;
/// Padding rows is worthwhile from this number of operations per output element on.
constexpr double kOperationsOfProduct = 64;
/// The number of rows has this many significant bits after padding.
constexpr int kRowBits = 4;

/// The data that determine the shapes of the outputs, in addition to the shapes of the inputs.
enum class Decides { kShapes, kIntegers, kNumbers, kData };

/// The shapes of a run, and the elements that determine shapes.
using Key = std::vector<int64_t>;

struct Entry {
  Key key;
  std::vector<Shape> outputs;
  /// Null if the reference kernel runs these shapes, or if there is nothing to compute.
  std::shared_ptr<const Program> program;
  std::unique_ptr<Executor> executor;
  bool is_view = false;
  bool is_empty = false;
};

class State final : public KernelState {
 public:
  Decides decides = Decides::kShapes;
  /// The ranks of the inputs whose rows are padded; empty if none are.
  std::vector<int64_t> padded_ranks;
  /// The most recently used one is at the end.
  std::vector<Entry> entries;
  Key key;
};

bool is_number_list(const Tensor& tensor, Decides decides) {
  if (decides == Decides::kShapes || tensor.size() > kListElements) return false;
  const DType dtype = tensor.dtype();
  if (dtype == DType::kInt64 || dtype == DType::kInt32) return true;
  return decides == Decides::kNumbers && dtype == DType::kFloat32;
}

Shape shape_of(const graph::TensorType& type) {
  Shape shape;
  for (const graph::Dim& dim : *type.dims) shape.push_back(dim.value());
  return shape;
}

int64_t elements_of(const graph::TensorType& type) { return tensor::element_count(shape_of(type)); }

graph::Dims dims_of(const Shape& shape) { return {shape.begin(), shape.end()}; }

/// Returns the first elements of a tensor as a tensor with fewer rows, which keeps the memory alive.
Tensor first_rows(Tensor tensor, const Shape& shape) {
  const auto whole = std::make_shared<const Tensor>(std::move(tensor));
  return {whole->dtype(), shape, whole->bytes(), whole};
}

Tensor padded(const Tensor& tensor, int64_t rows) {
  Shape shape = tensor.shape();
  shape[0] = rows;
  Tensor result(tensor.dtype(), std::move(shape));
  if (tensor.size() > 0) std::memcpy(result.mutable_bytes(), tensor.bytes(), tensor.byte_size());
  std::memset(result.mutable_bytes() + tensor.byte_size(), 0, result.byte_size() - tensor.byte_size());
  return result;
}

class DeferredNode final : public NodeKernel {
 public:
  DeferredNode(const graph::Graph& graph, const graph::Node& node, std::shared_ptr<NodeCompiler> compiler,
               bool float32)
      : compiler_(std::move(compiler)), float32_(float32) {
    std::vector<ValueId> mine(graph.values.size(), kNoValue);
    graph::Node copy = node;
    for (ValueId& id : copy.inputs) id = take(graph, id, mine);
    for (ValueId& id : copy.outputs) {
      id = take(graph, id, mine);
      if (id != kNoValue) graph_.outputs.push_back(id);
    }
    for (const ValueId id : copy.inputs) {
      const bool is_new = std::find(graph_.inputs.begin(), graph_.inputs.end(), id) == graph_.inputs.end();
      if (id != kNoValue && is_new && !graph_.value(id).constant) graph_.inputs.push_back(id);
    }
    graph_.nodes.push_back(std::move(copy));
  }

  std::unique_ptr<KernelState> make_state() const override { return std::make_unique<State>(); }

  std::vector<Tensor> run(const std::vector<const Tensor*>& inputs, KernelState& given) const override {
    auto& state = dynamic_cast<State&>(given);
    if (state.decides == Decides::kData) return run_on_data(inputs);
    Entry& entry = entry_for(inputs, state);
    if (state.decides == Decides::kData) return run_on_data(inputs);
    if (entry.is_empty) return empty_outputs(entry);
    if (entry.is_view) return {inputs[0]->reshaped(entry.outputs[0])};
    if (entry.program == nullptr) return run_by_reference(inputs);
    return run_program(inputs, state, entry);
  }

 private:
  const graph::Node& node() const { return graph_.nodes.front(); }

  /// The value in the graph of one node; the same value for every occurrence.
  ValueId take(const graph::Graph& graph, ValueId id, std::vector<ValueId>& mine) {
    if (id == kNoValue) return kNoValue;
    ValueId& known = mine[static_cast<size_t>(id)];
    if (known != kNoValue) return known;
    const graph::Value& value = graph.value(id);
    known = graph_.add_value(value.name, {value.type.dtype, {}});
    if (value.constant) {
      graph_.value(known).type = value.type;
      graph_.value(known).constant = value.constant;
    }
    return known;
  }

  std::vector<Tensor> run_by_reference(const std::vector<const Tensor*>& inputs) const {
    return reference::run_node(node(), inputs);
  }

  /// Runs a node whose output shapes depend on more data than shape inference reads.
  std::vector<Tensor> run_on_data(const std::vector<const Tensor*>& inputs) const {
    const HostFunction function = find_host_function(node().op);
    return function == nullptr ? run_by_reference(inputs) : function(node(), inputs);
  }

  /// The tensor for an input of the graph of one node.
  const Tensor& argument(const std::vector<const Tensor*>& inputs, ValueId id) const {
    const auto& ids = node().inputs;
    return *inputs[static_cast<size_t>(std::find(ids.begin(), ids.end(), id) - ids.begin())];
  }

  /// The number of rows of all inputs, if they are padded; else -1.
  int64_t rows_to_pad(const std::vector<const Tensor*>& inputs, const State& state) const {
    if (state.padded_ranks.size() != graph_.inputs.size()) return -1;
    int64_t rows = -1;
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      const Tensor& tensor = argument(inputs, graph_.inputs[i]);
      if (tensor.rank() != state.padded_ranks[i] || (rows >= 0 && tensor.shape()[0] != rows)) return -1;
      rows = tensor.shape()[0];
    }
    return rows;
  }

  void write_key(const std::vector<const Tensor*>& inputs, const State& state, Key& key) const {
    key.clear();
    const int64_t rows = rows_to_pad(inputs, state);
    for (const ValueId id : graph_.inputs) {
      const Tensor& tensor = argument(inputs, id);
      key.push_back(tensor.rank());
      key.insert(key.end(), tensor.shape().begin(), tensor.shape().end());
      if (rows >= 0) key[key.size() - tensor.shape().size()] = padded_rows(rows);
      if (!is_number_list(tensor, state.decides)) continue;
      if (tensor.dtype() == DType::kFloat32) {
        for (const float x : tensor.values<float>()) key.push_back(std::bit_cast<int32_t>(x));
      } else {
        const std::vector<int64_t> elements = tensor.to_int64();
        key.insert(key.end(), elements.begin(), elements.end());
      }
    }
  }

  Entry& entry_for(const std::vector<const Tensor*>& inputs, State& state) const {
    write_key(inputs, state, state.key);
    auto& entries = state.entries;
    const auto known = std::find_if(entries.rbegin(), entries.rend(),
                                    [&](const Entry& entry) { return entry.key == state.key; });
    if (known != entries.rend()) {
      std::rotate(known.base() - 1, known.base(), entries.end());
      return entries.back();
    }
    Entry made = make_entry(inputs, state);
    if (entries.size() == kMostPrograms) entries.erase(entries.begin());
    entries.push_back(std::move(made));
    return entries.back();
  }

  /// Returns the graph of one node for these inputs; numbers that determine shapes become constants.
  graph::Graph typed(const std::vector<const Tensor*>& inputs, const State& state) const {
    graph::Graph result = graph_;
    const int64_t rows = rows_to_pad(inputs, state);
    for (const ValueId id : graph_.inputs) {
      const Tensor& tensor = argument(inputs, id);
      graph::Value& value = result.value(id);
      Shape shape = tensor.shape();
      if (rows >= 0) shape[0] = padded_rows(rows);
      value.type = {tensor.dtype(), dims_of(shape)};
      if (!is_number_list(tensor, state.decides)) continue;
      value.constant = tensor.clone();
      std::erase(result.inputs, id);
    }
    graph::infer_types(result);
    return result;
  }

  /// Decides, at the first opportunity, what determines the shapes and whether rows are padded.
  graph::Graph decided(const std::vector<const Tensor*>& inputs, State& state) const {
    graph::Graph result = typed(inputs, state);
    const auto is_open = [&] {
      return std::any_of(result.outputs.begin(), result.outputs.end(),
                         [&](ValueId id) { return !result.value(id).type.fully_known(); });
    };
    while (is_open() && state.decides != Decides::kData) {
      state.decides = static_cast<Decides>(static_cast<int>(state.decides) + 1);
      state.entries.clear();
      if (state.decides != Decides::kData) result = typed(inputs, state);
    }
    if (state.decides == Decides::kShapes && state.padded_ranks.empty() && is_product_of_rows(result)) {
      for (const ValueId id : graph_.inputs) state.padded_ranks.push_back(argument(inputs, id).rank());
      result = typed(inputs, state);
    }
    return result;
  }

  /// True if each row of the single output depends only on the same row of the first input and on constants,
  /// and costs much work.
  bool is_product_of_rows(const graph::Graph& typed) const {
    if (typed.outputs.size() != 1 || typed.outputs[0] != node().outputs[0]) return false;
    const graph::Dims& made = *typed.value(typed.outputs[0]).type.dims;
    if (made.empty() || made[0].value() == 0) return false;
    const std::vector<ValueId>& operands = node().inputs;
    const bool others_are_constant = std::all_of(operands.begin() + 1, operands.end(), [&](ValueId id) {
      return id == kNoValue || typed.value(id).constant.has_value();
    });
    if (!others_are_constant || typed.value(operands[0]).constant) return false;
    const graph::Dims& dims = *typed.value(operands[0]).type.dims;
    if (dims.empty() || !dims[0].same_as(made[0])) return false;
    if (!graph::keeps_batch(typed, node(), static_cast<int64_t>(made.size()))) return false;
    const auto cost = graph::node_cost(typed, node());
    const auto elements = static_cast<double>(elements_of(typed.value(typed.outputs[0]).type));
    return cost && cost->flops >= kOperationsOfProduct * elements;
  }

  Entry make_entry(const std::vector<const Tensor*>& inputs, State& state) const {
    graph::Graph made = decided(inputs, state);
    Entry entry;
    if (state.decides == Decides::kData) return entry;
    write_key(inputs, state, entry.key);
    int64_t elements = 0;
    int64_t results = 0;
    for (const ValueId id : node().inputs) {
      if (id != kNoValue) elements += elements_of(made.value(id).type);
    }
    for (const ValueId id : node().outputs) {
      entry.outputs.push_back(id == kNoValue ? Shape() : shape_of(made.value(id).type));
      if (id != kNoValue) results += elements_of(made.value(id).type);
    }
    entry.is_empty = results == 0;
    entry.is_view = !entry.is_empty && graph::changes_shape_only(node());
    const bool reads_nothing = std::any_of(made.inputs.begin(), made.inputs.end(),
                                           [&](ValueId id) { return elements_of(made.value(id).type) == 0; });
    if (entry.is_empty || entry.is_view || reads_nothing || elements + results <= kSmallElements)
      return entry;
    const auto cost = graph::node_cost(made, node());
    const bool is_product = cost && cost->flops >= kOperationsOfProduct * static_cast<double>(results);
    entry.program = compiler_->compile(std::move(made), float32_ || !is_product);
    entry.executor = compiler_->device().make_executor(*entry.program);
    return entry;
  }

  std::vector<Tensor> empty_outputs(const Entry& entry) const {
    std::vector<Tensor> outputs(node().outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (node().has_output(i))
        outputs[i] = Tensor(graph_.value(node().outputs[i]).type.dtype, entry.outputs[i]);
    }
    return outputs;
  }

  std::vector<Tensor> run_program(const std::vector<const Tensor*>& inputs, const State& state,
                                  Entry& entry) const {
    const int64_t rows = rows_to_pad(inputs, state);
    const bool cut = padded_rows(rows) != rows;
    std::vector<Tensor> arguments;
    for (const ValueId id : entry.program->graph().inputs) {
      const Tensor& tensor = argument(inputs, id);
      arguments.push_back(cut ? padded(tensor, padded_rows(rows)) : tensor);
    }
    entry.executor->upload(arguments);
    entry.executor->execute(nullptr);
    // Releases the inputs, which the executor would otherwise keep until its next run.
    entry.executor->upload({});
    std::vector<Tensor> made = entry.executor->download();
    if (cut) {
      Shape shape = made[0].shape();
      shape[0] = rows;
      made[0] = first_rows(std::move(made[0]), shape);
    }
    if (made.size() == node().outputs.size()) return made;
    std::vector<Tensor> outputs(node().outputs.size());
    for (size_t i = 0, next = 0; i < outputs.size(); ++i) {
      if (node().has_output(i)) outputs[i] = std::move(made[next++]);
    }
    return outputs;
  }

  std::shared_ptr<NodeCompiler> compiler_;
  bool float32_;
  /// A graph with only this node, whose values have no shapes.
  graph::Graph graph_;
};

}  // namespace

std::shared_ptr<const Program> NodeCompiler::compile(graph::Graph graph, bool float32) {
  const std::lock_guard lock(mutex_);
  return build_program(std::make_shared<const graph::Graph>(std::move(graph)), device_, weights_,
                       {.policy = float32 ? policy_of(Precision::kFp32) : policy_, .layout = layout_});
}

int64_t padded_rows(int64_t rows) {
  const int bits = std::bit_width(static_cast<uint64_t>(std::max<int64_t>(rows, 0)));
  if (rows < 0 || bits <= kRowBits) return rows;
  const int64_t step = int64_t{1} << (bits - kRowBits);
  return (rows + step - 1) / step * step;
}

std::shared_ptr<const NodeKernel> make_deferred_node(const graph::Graph& graph, const graph::Node& node,
                                                     std::shared_ptr<NodeCompiler> compiler, bool float32) {
  return std::make_shared<DeferredNode>(graph, node, std::move(compiler), float32);
}

}  // namespace hone::engine
