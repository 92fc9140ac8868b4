// Makes convolutions and matrix products of 8-bit integers of those in floating point whose operands are
// dequantized and whose result is quantized. It runs before constants are folded, while weights are integers.
#include "transform/constants.hpp"
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"

namespace hone::transform {
namespace {

/// The inputs of a DequantizeLinear or QuantizeLinear.
struct Quantized {
  ValueId value = graph::kNoValue;
  ValueId scale = graph::kNoValue;
  ValueId zero_point = graph::kNoValue;
};

DType dtype_of(const Editor& editor, ValueId id) { return editor.graph().value(id).type.dtype; }

bool is_byte(DType dtype) { return dtype == DType::kInt8 || dtype == DType::kUInt8; }

/// Whether scale and zero point are constants of `count` elements, or of one.
bool has_constants(const Editor& editor, const Quantized& q, int64_t count) {
  for (const ValueId id : {q.scale, q.zero_point}) {
    const Tensor* constant = id == graph::kNoValue ? nullptr : editor.graph().constant(id);
    if (constant == nullptr || (constant->size() != 1 && constant->size() != count)) return false;
  }
  return dtype_of(editor, q.scale) == DType::kFloat32;
}

/// What a value was dequantized from, by blocks of no kind.
std::optional<Quantized> dequantized(const Editor& editor, ValueId id) {
  const Node* node = editor.made_by(id, "DequantizeLinear");
  if (node == nullptr || node->attributes.get_int("block_size") != 0) return std::nullopt;
  return Quantized{node->inputs[0], node->inputs[1], node->input(2)};
}

/// The axis along which scales of the second operand may differ.
int64_t channel_axis(const Node& product) { return product.op == "Conv" ? 0 : -1; }

/// The weights, with one scale or one for each channel of the result.
std::optional<Quantized> weights_of(const Editor& editor, const Node& product) {
  const auto weights = dequantized(editor, product.inputs[1]);
  if (!weights || !is_byte(dtype_of(editor, weights->value))) return std::nullopt;
  const Tensor* constant = editor.graph().constant(weights->value);
  if (constant == nullptr) return std::nullopt;
  const int64_t rank = constant->rank();
  const bool fits = product.op == "Conv" ? rank == 4 || rank == 5 : rank >= 2;
  if (!fits) return std::nullopt;
  const int64_t axis = tensor::normalize_axis(channel_axis(product), rank);
  if (!has_constants(editor, *weights, constant->shape()[static_cast<size_t>(axis)])) return std::nullopt;
  const Node& node = *editor.made_by(product.inputs[1], "DequantizeLinear");
  const bool single = editor.graph().constant(weights->scale)->size() == 1;
  if (!single && tensor::normalize_axis(node.attributes.get_int("axis"), rank) != axis) return std::nullopt;
  // Kernels subtract the middle of the type alone.
  const double middle = constant->dtype() == DType::kUInt8 ? 128 : 0;
  if (!is_filled_with(editor.graph(), weights->zero_point, middle)) return std::nullopt;
  return weights;
}

/// Integers that a bias was dequantized from by the product of both scales; kNoValue where there is no bias,
/// nullopt where it is something else.
std::optional<ValueId> bias_of(const Editor& editor, const Node& product) {
  if (!product.has_input(2)) return graph::kNoValue;
  const auto bias = dequantized(editor, product.inputs[2]);
  if (!bias || dtype_of(editor, bias->value) != DType::kInt32) return std::nullopt;
  if (bias->zero_point != graph::kNoValue && !is_filled_with(editor.graph(), bias->zero_point, 0))
    return std::nullopt;
  const Tensor* scales = editor.graph().constant(bias->scale);
  const auto a = dequantized(editor, product.inputs[0]);
  const auto b = dequantized(editor, product.inputs[1]);
  if (scales == nullptr || !a || !b) return std::nullopt;
  const double a_scale = editor.graph().constant(a->scale)->to_double()[0];
  const auto b_scales = editor.graph().constant(b->scale)->to_double();
  const auto values = scales->to_double();
  for (size_t i = 0; i < values.size(); ++i) {
    const double expected = a_scale * b_scales[b_scales.size() == 1 ? 0 : i % b_scales.size()];
    if (std::abs(values[i] - expected) > std::abs(expected) * 0x1p-20) return std::nullopt;
  }
  return bias->value;
}

/// The product whose result is quantized: directly, or behind a Relu that the type's lowest value stands for.
const Node* product_before(const Editor& editor, const Node& quantize) {
  ValueId id = quantize.inputs[0];
  if (const Node* relu = editor.made_by(id, "Relu")) {
    const DType dtype = dtype_of(editor, quantize.outputs[0]);
    const bool lowest = is_filled_with(editor.graph(), quantize.input(2), dtype == DType::kUInt8 ? 0 : -128);
    if (!lowest || !editor.read_once(id)) return nullptr;
    id = relu->inputs[0];
  }
  if (!editor.read_once(id)) return nullptr;
  const Node* conv = editor.made_by(id, "Conv");
  return conv != nullptr ? conv : editor.made_by(id, "MatMul");
}

void rewrite(Editor& editor, int32_t index, Summary& summary) {
  const Node quantize = editor.node(index);
  if (!quantize.has_input(2) || quantize.attributes.get_int("block_size") != 0) return;
  const Node* found = product_before(editor, quantize);
  if (found == nullptr) return;
  const Node product = *found;
  const auto a = dequantized(editor, product.inputs[0]);
  const graph::TensorType& type = editor.graph().value(product.inputs[0]).type;
  if (!a || !type.ranked() || type.dims->size() < 2) return;
  const Quantized y{quantize.outputs[0], quantize.inputs[1], quantize.inputs[2]};
  const auto b = weights_of(editor, product);
  const bool bytes = is_byte(dtype_of(editor, a->value)) && is_byte(dtype_of(editor, y.zero_point));
  if (!b || !bytes || !has_constants(editor, *a, 1) || !has_constants(editor, y, 1)) {
    return summary.refuse(
        fmt::format("'{}' stays in floating point: it needs constant scales, and weights of 8 bits around "
                    "their middle, of "
                    "images or volumes where it is a convolution",
                    product.name));
  }
  const auto bias = bias_of(editor, product);
  if (!bias) {
    return summary.refuse(fmt::format(
        "'{}' stays in floating point: its bias is no integer in units of both scales", product.name));
  }
  Node node = derived_node(
      quantize, product.op == "Conv" ? "QLinearConv" : "QLinearMatMul",
      {a->value, a->scale, a->zero_point, b->value, b->scale, b->zero_point, y.scale, y.zero_point});
  if (product.op == "Conv") {
    node.attributes = product.attributes;
    if (*bias != graph::kNoValue) node.inputs.push_back(*bias);
  }
  join_names(node, product, quantize);
  summary.change(fmt::format("'{}' became {}", product.name, node.op));
  editor.replace(index, std::move(node));
}

}  // namespace

Summary quantized_products(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  for (int32_t i = 0; i < editor.count(); ++i) {
    if (editor.alive(i) && editor.node(i).op == "QuantizeLinear") rewrite(editor, i, summary);
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
