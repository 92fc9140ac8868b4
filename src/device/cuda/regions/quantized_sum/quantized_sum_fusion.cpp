// Fuses two convolutions of bytes whose results are added, as a residual block with a projected shortcut ends
// (He et al. 2016): the rounded bytes of one of them need not be written and read.
#include <algorithm>

#include "device/cuda/passes/pass_list.hpp"
#include "graph/convolution_geometry.hpp"
#include "graph/post_op.hpp"
#include "graph/quantized_chain.hpp"
#include "graph/region.hpp"
#include "transform/fusion.hpp"
#include "transform/quantized.hpp"
#include "transform/region.hpp"

namespace hone::device::cuda {

using namespace transform;
using graph::QuantizedChain;
using graph::QuantizedStage;

namespace {

// Limits of the kernel (byte_sum.hpp).
constexpr int64_t kChannelMultiple = 16;
constexpr int64_t kMostStride = 8;

/// A region quantized_product of a convolution.
struct Product {
  int32_t index;
  Node node;
  QuantizedChain chain;
};

std::optional<Product> find_product(const Editor& editor, int32_t index) {
  if (index < 0 || !editor.alive(index) || graph::kind_of(editor.node(index)) != graph::kQuantizedProduct)
    return std::nullopt;
  auto chain = graph::read_quantized_chain(editor.node(index));
  if (!chain || chain->core == nullptr) return std::nullopt;
  if (chain->core->op != "Conv" && chain->core->op != "FusedConv") return std::nullopt;
  return Product{index, editor.node(index), std::move(*chain)};
}

bool adds_bytes(const QuantizedStage& stage) { return stage.op == "add" && stage.operand.is_quantized(); }

/// The product whose bytes `last` adds, and nothing else reads.
std::optional<Product> find_operand(const Editor& editor, const Product& last) {
  for (const QuantizedStage& stage : last.chain.stages) {
    if (!adds_bytes(stage)) continue;
    const ValueId id = last.node.inputs[stage.operand.value];
    auto product = find_product(editor, editor.producer(id));
    if (product && editor.read_once(id)) return product;
  }
  return std::nullopt;
}

/// Why a convolution cannot be one of both; empty when it can.
Refusal convolution_refusal(const Graph& graph, const Product& product) {
  const auto constant_of = [&](size_t input) {
    return input == graph::QuantizedOperand::kNone ? nullptr : graph.constant(product.node.inputs[input]);
  };
  const std::string& name = product.node.name;
  const graph::Tensor* const filters = constant_of(product.chain.w.value);
  if (filters == nullptr) return fmt::format("the filters of '{}' are not constant", name);
  const tensor::Shape& shape = filters->shape();
  if (shape.size() != 4) return fmt::format("the windows of '{}' have not two axes", name);
  if (shape[0] % kChannelMultiple != 0 || shape[1] % kChannelMultiple != 0)
    return fmt::format("channels or filters of '{}' are no multiple of {}", name, kChannelMultiple);
  const graph::Attributes& attributes = product.chain.core->attributes;
  const graph::Window window = graph::read_window(attributes, {shape[2], shape[3]});
  const auto strides = window.strides;
  if (attributes.get_int("group") != 1 || window.auto_pad != graph::AutoPad::kNotSet ||
      std::any_of(strides.begin(), strides.end(), [](int64_t stride) { return stride > kMostStride; }))
    return fmt::format("'{}' has groups or windows of another kind", name);
  const auto is_zero = [](int64_t pad) { return pad == 0; };
  const bool padded = !std::all_of(window.pads_begin.begin(), window.pads_begin.end(), is_zero) ||
                      !std::all_of(window.pads_end.begin(), window.pads_end.end(), is_zero);
  const graph::Tensor* const zero_point = constant_of(product.chain.x.zero_point);
  if (padded && zero_point != nullptr && zero_point->to_double()[0] != 0)
    return fmt::format("'{}' pads with a zero point", name);
  return {};
}

/// True if a stage is a constant that the sums take in, or a bound.
bool is_plain(const Graph& graph, const Product& product, const QuantizedStage& stage) {
  if (stage.op == "relu" || stage.op == "clip") return true;
  return stage.operand.is_present() && !stage.operand.is_quantized() &&
         graph.constant(product.node.inputs[stage.operand.value]) != nullptr;
}

/// Why `last`, which adds what `other` makes, stays a step of its own; empty when it does not.
Refusal refusal(const Graph& graph, const Product& other, const Product& last) {
  for (const Product* product : {&other, &last}) {
    if (Refusal reason = convolution_refusal(graph, *product)) return reason;
  }
  const auto& early = other.chain.stages;
  if (early.empty() || !std::all_of(early.begin(), early.end(), [&](const QuantizedStage& stage) {
        return &stage == &early.back() ? stage.rounds() : is_plain(graph, other, stage);
      }))
    return fmt::format("'{}' does more than to round its result", other.node.name);
  const auto& late = last.chain.stages;
  if (std::count_if(late.begin(), late.end(), adds_bytes) != 1 ||
      !std::all_of(late.begin(), late.end(), [&](const QuantizedStage& stage) {
        return stage.rounds() || adds_bytes(stage) || is_plain(graph, last, stage);
      }))
    return fmt::format("'{}' ends with more than a Relu or Clip", last.node.name);
  if (!late.back().rounds()) return "its result is not rounded";
  const graph::TensorType& type = graph.value(last.node.outputs[0]).type;
  if (!same_shape(graph.value(other.node.outputs[0]).type, type)) return "one result is broadcast";
  return {};
}

}  // namespace

Summary quantized_sum_fusion(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  for (int32_t i = 0; i < editor.count(); ++i) {
    const auto last = find_product(editor, i);
    const auto other = last ? find_operand(editor, *last) : std::nullopt;
    if (!other) continue;
    if (const Refusal reason = refusal(graph, *other, *last)) {
      summary.refuse(
          fmt::format("'{}' + '{}' not fused: {}", other->node.name, last->node.name, reason.text()));
      continue;
    }
    summary.change(fmt::format("'{}' and '{}' became one node", other->node.name, last->node.name));
    editor.remove(other->index);
    editor.replace(i, make_region(std::string(graph::kQuantizedSum),
                                  {{"shortcut", other->node}, {"sum", last->node}}, last->node.outputs));
  }
  editor.commit();
  return summary;
}

}  // namespace hone::device::cuda
