// See placement.hpp.
#include "quantize/placement.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "graph/infer.hpp"
#include "graph/operator.hpp"

namespace hone::quantize {
namespace {

using graph::DType;
using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::Tensor;
using graph::ValueId;

bool is_product(const Node& node) { return graph::traits_of(node).product != graph::Product::kNone; }

/// True if the node is fused into the preceding convolution, product or addition.
bool is_activation(const Node& node) { return graph::traits_of(node).activation; }

/// True if the results consist of elements of the inputs. Among operators that select elements, only max
/// pools have integer kernels.
bool is_move(const Node& node) { return graph::traits_of(node).moves_only || node.op == "MaxPool"; }

/// True for the other pools with integer kernels.
bool is_average(const Node& node) { return node.op == "AveragePool" || node.op == "GlobalAveragePool"; }

/// Limit on the nodes that one walk along the graph visits.
constexpr int kMostSteps = 8;

class Placer {
 public:
  Placer(const Graph& graph, const PlacementRules& rules)
      : graph_(graph),
        rules_(rules),
        links_(graph),
        wants_(graph.values.size()),
        demanded_(graph.values.size()),
        depth_(graph.nodes.size(), 1),
        groups_(graph.values.size()) {
    std::iota(groups_.begin(), groups_.end(), 0);
  }

  Placement run() {
    measure_depth();
    for (auto i = static_cast<int32_t>(graph_.nodes.size()) - 1; i >= 0; --i) visit(i);
    collect_values();
    std::ranges::reverse(result_.weighted);
    std::ranges::reverse(result_.kept);
    result_.int8_share = share_of_work();
    return std::move(result_);
  }

 private:
  const Node& node(int32_t index) const { return graph_.nodes[static_cast<size_t>(index)]; }
  size_t at(ValueId id) const { return static_cast<size_t>(id); }

  bool is_float(ValueId id) const { return id != kNoValue && graph_.value(id).type.dtype == DType::kFloat32; }
  bool is_activation_input(ValueId id) const { return is_float(id) && !graph_.value(id).constant; }

  /// Length of the longest path from the model's inputs to each node.
  void measure_depth() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      for (const ValueId id : graph_.nodes[i].inputs) depth_[i] = std::max(depth_[i], depth_of(id) + 1);
    }
  }
  int depth_of(ValueId id) const {
    const int32_t producer = links_.producer_of(id);
    return producer < 0 ? 0 : depth_[static_cast<size_t>(producer)];
  }

  void visit(int32_t index) {
    const Node& n = node(index);
    if (is_product(n)) return visit_product(index);
    if (is_move(n)) return visit_move(index);
    if (is_average(n)) {
      if (is_wanted(n.outputs[0]) && is_activation_input(n.input(0))) read(index, 0);
      return;
    }
    if (n.op == "Add") return visit_addition(index);
    if (is_activation(n) && links_.single_consumer(n.input(0)) == index)
      demanded_[at(n.inputs[0])] = is_demanded(n.outputs[0]);
  }

  void read(int32_t index, size_t input) {
    const ValueId id = node(index).inputs[input];
    ++wants_[at(id)];
    result_.reads.push_back({index, input});
  }
  bool is_wanted(ValueId id) const { return wants_[at(id)] > 0; }
  /// True if a node reads the value as integers, directly or after an activation.
  bool is_demanded(ValueId id) const { return is_wanted(id) || demanded_[at(id)]; }
  /// True if no node reads it in floating point.
  bool is_wanted_by_all(ValueId id) const {
    return is_wanted(id) && !links_.is_output[at(id)] &&
           wants_[at(id)] == static_cast<int>(links_.consumers[at(id)].size());
  }

  void visit_product(int32_t index) {
    const Node& n = node(index);
    const std::string reason = why_float(index);
    if (!reason.empty() || rules_.kept.contains(index)) {
      result_.kept.push_back({n.text(), reason.empty() ? "the accuracy budget keeps it" : reason});
      return;
    }
    read(index, 0);
    result_.weighted.push_back({index, weights_axis(n)});
    const auto rank = static_cast<int64_t>(
        graph_.value(n.inputs[0]).type.ranked() ? graph_.value(n.inputs[0]).type.dims->size() : 0);
    const bool last = graph::traits_of(n).product == graph::Product::kMatrices;
    channel_axis_[n.inputs[0]] = last ? rank - 1 : 1;
  }

  static int64_t weights_axis(const Node& n) {
    if (n.op == "Conv") return 0;
    if (n.op == "Gemm") return n.attributes.get_int("transB") != 0 ? 0 : 1;
    return 1;
  }

  /// Returns an empty text for a product that computes with integers; otherwise the reason why it does not.
  std::string why_float(int32_t index) const {
    const std::string reason = why_float_everywhere(index);
    return reason.empty() ? why_against_rules(node(index)) : reason;
  }
  std::string why_float_everywhere(int32_t index) const {
    const Node& n = node(index);
    if (!is_activation_input(n.input(0))) return "its input is no float32 that changes";
    const Tensor* weights = graph_.constant(n.input(1));
    if (weights == nullptr) return "its second operand is not constant";
    if (weights->dtype() != DType::kFloat32 || weights->size() == 0) return "its weights are not float32";
    if (n.has_input(2) && graph_.constant(n.input(2)) == nullptr) return "its bias is not constant";
    if (n.op == "MatMul" && weights->rank() != 2) return "its weights are not one matrix";
    if (n.op == "Gemm") {
      const bool plain = n.attributes.get_int("transA") == 0 && n.attributes.get_float("alpha") == 1 &&
                         n.attributes.get_float("beta") == 1;
      if (!plain) return "it scales or transposes its operands";
    }
    const auto all = weights->values<float>();
    if (!std::ranges::all_of(all, [](float v) { return std::isfinite(v); }))
      return "its weights hold NaN or infinity";
    if (n.op == "Conv" && is_gate(index)) return "it computes the factors of a channel-wise gate";
    if (is_mean_of_softmax(n))
      return "it takes the mean of a softmax, as detectors do for the sides of boxes";
    return {};
  }

  /// The rule that forbids integers for a product that could use them; empty if there is none.
  std::string why_against_rules(const Node& n) const {
    const Tensor& weights = *graph_.constant(n.inputs[1]);
    const bool grouped = n.op == "ConvTranspose" || (n.op == "Conv" && n.attributes.get_int("group") != 1);
    if (grouped && !rules_.every_convolution)
      return "convolutions in groups and transposed ones are faster in floating point there";
    const int64_t channels =
        weights.shape()[static_cast<size_t>(n.op == "Conv"            ? 1
                                            : n.op == "ConvTranspose" ? 0
                                                                      : 1 - weights_axis(n))];
    if (channels % rules_.channel_multiple != 0)
      return fmt::format("it sums over {} channels, no multiple of {}", channels, rules_.channel_multiple);
    return {};
  }

  /// True if the value comes from a product that stays in floating point. Its integers would be made only for
  /// operators that move them.
  bool is_made_in_floats(ValueId id) const {
    for (int step = 0; step < kMostSteps; ++step) {
      const int32_t producer = links_.producer_of(id);
      if (producer < 0) return false;
      const Node& n = node(producer);
      if (is_product(n)) return !why_float(producer).empty();
      if (!is_activation(n)) return false;
      id = n.inputs[0];
    }
    return false;
  }

  /// True for a product with one result for each position, after a softmax with only views in between.
  /// Rounding its shares to 127ths would move a box by pixels, and such products are too few to gain
  /// anything.
  bool is_mean_of_softmax(const Node& n) const {
    const tensor::Shape& weights = graph_.constant(n.inputs[1])->shape();
    const auto outputs = static_cast<size_t>(weights_axis(n));
    if (n.op == "ConvTranspose" || weights[outputs] != 1) return false;
    ValueId id = n.inputs[0];
    for (int step = 0; step < kMostSteps; ++step) {
      const int32_t producer = links_.producer_of(id);
      if (producer < 0) return false;
      const Node& before = node(producer);
      if (before.op == "Softmax") return true;
      if (!is_move(before)) return false;
      id = before.inputs[0];
    }
    return false;
  }

  /// True for a convolution with a single pixel whose results are used only as factors, possibly after
  /// activations and other such convolutions.
  bool is_gate(int32_t index) const {
    for (int step = 0; step < kMostSteps && index >= 0; ++step) {
      const Node& n = node(index);
      if (n.op == "Mul") return step > 0;
      const bool passes = n.op == "Conv" ? is_single_pixel(n.outputs[0]) : is_activation(n);
      if (!passes) return false;
      index = links_.single_consumer(n.outputs[0]);
      if (index < 0) return gates_itself(n.outputs[0]);
    }
    return false;
  }
  /// Recognizes x * sigmoid(x) between two convolutions of a gate: x has two readers, and one of them is the
  /// product.
  bool gates_itself(ValueId id) const {
    const auto& readers = links_.consumers[at(id)];
    if (links_.is_output[at(id)] || readers.size() != 2) return false;
    for (const int32_t reader : readers) {
      if (node(reader).op == "Mul") return is_gate_after(reader);
    }
    return false;
  }
  bool is_gate_after(int32_t product) const {
    const int32_t next = links_.single_consumer(node(product).outputs[0]);
    return next >= 0 && node(next).op == "Conv" && is_gate(next);
  }
  bool is_single_pixel(ValueId id) const {
    const graph::TensorType& type = graph_.value(id).type;
    if (!type.ranked() || type.dims->size() < 3) return false;
    return std::all_of(type.dims->begin() + 2, type.dims->end(),
                       [](const graph::Dim& dim) { return dim.is(1); });
  }

  void visit_move(int32_t index) {
    const Node& n = node(index);
    const size_t inputs = n.op == "Concat" ? n.inputs.size() : 1;
    for (const ValueId id : n.outputs) {
      if (id != kNoValue && !is_wanted_by_all(id)) return;
    }
    for (size_t i = 0; i < inputs; ++i) {
      if (!is_activation_input(n.inputs[i])) return;
      if (!rules_.every_convolution && is_made_in_floats(n.inputs[i])) return;
    }
    for (size_t i = 0; i < inputs; ++i) {
      read(index, i);
      for (const ValueId id : n.outputs) join(n.inputs[i], id);
    }
  }

  void visit_addition(int32_t index) {
    const Node& n = node(index);
    if (!is_demanded(n.outputs[0])) return;
    if (!is_activation_input(n.inputs[0]) || !is_activation_input(n.inputs[1])) return;
    const auto fused = accumulator_of(n);
    if (fused && is_kept(n.inputs[*fused])) return;
    for (size_t i = 0; i < 2; ++i) {
      if (fused != i) read(index, i);
    }
  }

  /// The operand that a convolution or product computes only for this addition; if both are, the one that is
  /// further from the model's inputs.
  std::optional<size_t> accumulator_of(const Node& n) const {
    const bool first = is_made_for(n.inputs[0]);
    const bool second = is_made_for(n.inputs[1]);
    if (!first && !second) return std::nullopt;
    if (first && second) return depth_of(n.inputs[1]) > depth_of(n.inputs[0]) ? 1 : 0;
    return first ? 0 : 1;
  }
  /// True if a value for which is_made_for() holds stays in floating point.
  bool is_kept(ValueId id) const {
    int32_t producer = links_.producer_of(id);
    while (is_activation(node(producer))) producer = links_.producer_of(node(producer).inputs[0]);
    return rules_.kept.contains(producer) || !why_against_rules(node(producer)).empty();
  }
  bool is_made_for(ValueId id) const {
    for (int step = 0; step < kMostSteps; ++step) {
      if (links_.single_consumer(id) < 0) return false;
      const int32_t producer = links_.producer_of(id);
      if (producer < 0) return false;
      const Node& n = node(producer);
      // Independent of the rules, so that stricter rules only remove integers and never add any.
      if (is_product(n)) return why_float_everywhere(producer).empty();
      if (!is_activation(n)) return false;
      id = n.inputs[0];
    }
    return false;
  }

  int group_of(ValueId id) {
    int group = static_cast<int>(id);
    while (groups_[static_cast<size_t>(group)] != group) group = groups_[static_cast<size_t>(group)];
    return group;
  }
  void join(ValueId a, ValueId b) {
    if (a != kNoValue && b != kNoValue) groups_[static_cast<size_t>(group_of(a))] = group_of(b);
  }

  void collect_values() {
    for (size_t i = 0; i < wants_.size(); ++i) {
      if (wants_[i] == 0) continue;
      const auto id = static_cast<ValueId>(i);
      const auto axis = channel_axis_.find(id);
      result_.values.push_back({id, group_of(id), axis == channel_axis_.end() ? -1 : axis->second});
    }
  }

  /// If the model cannot run with all open sizes set to 1, uses the share of the weights instead.
  double share_of_work() const {
    try {
      return share_of_operations();
    } catch (const Error&) {
      double all = 0;
      double integers = 0;
      for (size_t i = 0; i < graph_.nodes.size(); ++i) {
        const Node& n = graph_.nodes[i];
        const Tensor* const weights = is_product(n) ? graph_.constant(n.input(1)) : nullptr;
        if (weights == nullptr) continue;
        all += static_cast<double>(weights->size());
        if (is_weighted(i)) integers += static_cast<double>(weights->size());
      }
      return all > 0 ? integers / all : 0;
    }
  }

  bool is_weighted(size_t index) const {
    return std::ranges::any_of(result_.weighted, [&](const WeightedNode& weighted) {
      return static_cast<size_t>(weighted.node) == index;
    });
  }

  double share_of_operations() const {
    std::map<std::string, tensor::Shape> shapes;
    for (const ValueId id : graph_.inputs) {
      const graph::Value& value = graph_.value(id);
      if (!value.type.ranked()) return 0;
      for (const graph::Dim& dim : *value.type.dims)
        shapes[value.name].push_back(dim.known() ? dim.value() : 1);
    }
    const Graph sized = graph::with_input_shapes(graph_, shapes);
    double all = 0;
    double integers = 0;
    for (size_t i = 0; i < sized.nodes.size(); ++i) {
      if (!is_product(sized.nodes[i])) continue;
      const auto cost = graph::node_cost(sized, sized.nodes[i]);
      if (!cost) continue;
      all += cost->flops;
      if (is_weighted(i)) integers += cost->flops;
    }
    return all > 0 ? integers / all : 0;
  }

  const Graph& graph_;
  PlacementRules rules_;
  graph::Links links_;
  /// Number of node inputs that read the value as integers.
  std::vector<int> wants_;
  std::vector<bool> demanded_;
  std::vector<int> depth_;
  std::vector<int> groups_;
  std::map<ValueId, int64_t> channel_axis_;
  Placement result_;
};

}  // namespace

Placement place(const Graph& graph, const PlacementRules& rules) { return Placer(graph, rules).run(); }

Placement restricted(const Graph& graph, const Placement& placement, const PlacementRules& rules) {
  Placement result = place(graph, rules);
  result.values = placement.values;
  return result;
}

}  // namespace hone::quantize
