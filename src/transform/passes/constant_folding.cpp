// Computes nodes with only constant inputs using the reference kernels, and replaces integer values that
// shape inference knows (such as the Shape of a tensor with static dimensions) by constants.
//
// A model file is untrusted, so folding must not exhaust memory or time. A large result may be at most
// kMaxGrowth times its inputs, all results together at most kMaxGrowth times the existing constants (plus
// kFreeBytes), and similar limits apply to operations. A node beyond a limit is not folded.
#include <algorithm>
#include <array>

#include "graph/operator.hpp"
#include "reference/kernel.hpp"
#include "transform/constants.hpp"
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"

namespace hone::transform {
namespace {

constexpr double kAlwaysFoldedBytes = 1 << 20;
/// Int8 weights may become float32.
constexpr double kMaxGrowth = 4;
constexpr double kFreeBytes = double{64 << 20};
/// Limits on operations and bytes: about ten seconds in reference kernels.
constexpr double kFreeWork = 1e9;
constexpr double kWorkPerByte = 16;

/// False for operators with a different result each time, and for those whose types do not bound their work.
bool is_foldable(const Node& node) { return !graph::traits_of(node).random && !graph::has_body(node); }

double input_bytes(const Graph& graph, const Node& node) {
  double bytes = 0;
  for (const ValueId id : node.inputs) {
    if (id != kNoValue) bytes += static_cast<double>(graph.constant(id)->byte_size());
  }
  return bytes;
}

class ConstantFolding {
 public:
  explicit ConstantFolding(Graph& graph) : graph_(graph), editor_(graph) {
    const double bytes = constant_bytes(graph);
    bytes_left_ = kFreeBytes + kMaxGrowth * bytes;
    work_left_ = kFreeWork + kWorkPerByte * bytes;
  }

  Summary run() {
    for (int32_t i = 0; i < editor_.count(); ++i) {
      if (known_outputs(i)) continue;
      if (all_inputs_constant(editor_.node(i))) compute(i);
    }
    editor_.commit();
    return std::move(summary_);
  }

 private:
  bool all_inputs_constant(const Node& node) const {
    if (node.op == "Identity" && editor_.is_output(node.outputs[0])) return false;
    return std::all_of(node.inputs.begin(), node.inputs.end(),
                       [&](ValueId id) { return id == kNoValue || graph_.constant(id) != nullptr; });
  }

  /// Replaces a node with a single output by a constant if shape inference knows all elements.
  bool known_outputs(int32_t index) {
    const Node& node = editor_.node(index);
    if (node.outputs.size() != 1 || (node.op == "Identity" && editor_.is_output(node.outputs[0])))
      return false;
    const graph::Value& value = graph_.value(node.outputs[0]);
    const auto elements = known_integers(graph_, node.outputs[0]);
    const bool whole = tensor::is_integer(value.type.dtype) || value.type.dtype == DType::kBool;
    if (!elements || !whole || !value.type.fully_known()) return false;
    tensor::Shape shape;
    for (const graph::Dim& dim : *value.type.dims) shape.push_back(dim.value());
    if (tensor::element_count(shape) != static_cast<int64_t>(elements->size())) return false;
    std::vector<Tensor> results;
    results.push_back(Tensor::of<int64_t>(*elements, std::move(shape)).cast(value.type.dtype));
    finish(index, std::move(results));
    return true;
  }

  void compute(int32_t index) {
    const Node& node = editor_.node(index);
    if (!is_foldable(node)) return;
    const auto refuse = [&](const std::string& why) {
      summary_.refuse(fmt::format("'{}' not computed: {}", node.name, why));
    };
    const auto cost = graph::node_cost(graph_, node);
    if (!cost) return refuse("the size of its result depends on the values of its inputs");
    const double inputs = input_bytes(graph_, node);
    const double result = cost->bytes - inputs;
    if (result > std::max(kAlwaysFoldedBytes, kMaxGrowth * inputs)) {
      return refuse(fmt::format("its result of {:.0f} bytes is much larger than its inputs", result));
    }
    const double work = cost->flops + cost->bytes;
    if (result > bytes_left_) return refuse("the results computed so far fill the limit");
    if (work > work_left_) return refuse(fmt::format("it takes {:.3g} operations", work));
    bytes_left_ -= result;
    work_left_ -= work;
    std::vector<const Tensor*> inputs_of_node;
    for (const ValueId id : node.inputs) inputs_of_node.push_back(graph_.constant(id));
    try {
      finish(index, reference::run_node(node, std::move(inputs_of_node)));
    } catch (const Error& error) {
      refuse(error.sentence());
    }
  }

  void finish(int32_t index, std::vector<Tensor> results) {
    const Node node = editor_.node(index);
    summary_.change(fmt::format("'{}' ({}) computed", node.name, node.op));
    editor_.remove(index);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.has_output(i)) continue;
      const ValueId id = node.outputs[i];
      if (editor_.is_output(id)) {
        keep_output(index, node, id, std::move(results[i]));
        continue;
      }
      graph::Value& value = graph_.value(id);
      value.type = {results[i].dtype(), graph::Dims(results[i].shape().begin(), results[i].shape().end())};
      value.constant = std::move(results[i]);
      value.data.reset();
    }
  }

  /// A graph output is always produced by a node, here a copy of the constant.
  void keep_output(int32_t index, const Node& node, ValueId id, Tensor result) {
    const ValueId constant = editor_.add_constant(graph_.value(id).name + ".folded", std::move(result));
    Node copy = derived_node(node, "Identity", {constant});
    copy.outputs = {id};
    editor_.insert_before(index, std::move(copy));
  }

  Graph& graph_;
  Editor editor_;
  Summary summary_;
  double bytes_left_ = 0;
  double work_left_ = 0;
};

}  // namespace

Summary constant_folding(Graph& graph) { return ConstantFolding(graph).run(); }

}  // namespace hone::transform
