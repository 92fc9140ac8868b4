// Replaces QLinearConv and QLinearMatMul with constant weights by their definition: operands are dequantized,
// the operator follows, and its result is quantized. The passes about quantized numbers support only this
// form.
#include "transform/fusion.hpp"
#include "transform/quantized.hpp"
#include "transform/quantized_passes.hpp"

namespace hone::transform {
namespace {

/// Inputs of both operators: a with scale and zero point, b with scale and zero point, and those of the
/// result.
constexpr size_t kA = 0;
constexpr size_t kB = 3;
constexpr size_t kY = 6;
constexpr size_t kBias = 8;

class Lowering {
 public:
  Lowering(Editor& editor, int32_t index) : editor_(editor), index_(index), node_(editor.node(index)) {}

  /// Why the node is kept; empty if it was rewritten.
  Refusal run() {
    const Graph& graph = editor_.graph();
    const bool conv = node_.op == "QLinearConv";
    for (const size_t i : {kA + 1, kB, kB + 1, kY + 1}) {
      if (graph.constant(node_.inputs[i]) == nullptr) return "scales, zero points or weights are computed";
    }
    if (graph.constant(node_.inputs[kA + 1])->size() != 1) return "the first operand has several scales";
    if (graph.constant(node_.inputs[kB + 1])->rank() > 1) return "the second operand has scales of a stack";
    const ValueId a = dequantize(kA, 0);
    const ValueId b = dequantize(kB, conv ? 0 : graph.constant(node_.inputs[kB])->rank() - 1);
    Node product = twin_of(node_, conv ? "Conv" : "MatMul", {a, b}, add_value(".product"));
    if (conv) product.attributes = node_.attributes;
    if (node_.has_input(kBias)) product.inputs.push_back(dequantized_bias());
    const ValueId result = product.outputs[0];
    editor_.insert_before(index_, std::move(product));
    Node quantize = derived_node(node_, "QuantizeLinear", {result, node_.inputs[kY], node_.inputs[kY + 1]});
    editor_.replace(index_, std::move(quantize));
    return {};
  }

 private:
  ValueId add_value(const char* suffix) {
    return editor_.add_value(editor_.graph().value(node_.outputs[0]).name + suffix, DType::kFloat32);
  }

  ValueId dequantize(size_t at, int64_t axis) {
    Node node = twin_of(node_, "DequantizeLinear", {node_.inputs[at], node_.inputs[at + 1], zero_point(at)},
                        add_value(at == kA ? ".a" : ".b"));
    node.attributes.set("axis", axis);
    const ValueId result = node.outputs[0];
    editor_.insert_before(index_, std::move(node));
    return result;
  }

  /// The zero point in the shape of the scale; a single one is repeated for several scales.
  ValueId zero_point(size_t at) {
    const Tensor* scales = editor_.graph().constant(node_.inputs[at + 1]);
    const Tensor* zeros = editor_.graph().constant(node_.inputs[at + 2]);
    if (zeros == nullptr || zeros->shape() == scales->shape()) return node_.inputs[at + 2];
    std::vector<double> values = zeros->to_double();
    if (values.size() == 1) values.assign(static_cast<size_t>(scales->size()), values[0]);
    const Tensor repeated = Tensor::of<double>(values, scales->shape()).cast(zeros->dtype());
    return editor_.add_constant(editor_.graph().value(node_.inputs[at + 2]).name, repeated);
  }

  /// The integers of the bias are in units of the product of both scales.
  ValueId dequantized_bias() {
    const Graph& graph = editor_.graph();
    const double a = graph.constant(node_.inputs[kA + 1])->to_double()[0];
    std::vector<double> scales = graph.constant(node_.inputs[kB + 1])->to_double();
    for (double& scale : scales) scale *= a;
    const tensor::Shape shape =
        scales.size() == 1 ? tensor::Shape{} : tensor::Shape{static_cast<int64_t>(scales.size())};
    const ValueId scale = editor_.add_constant(graph.value(node_.inputs[kBias]).name + ".scale",
                                               floating_tensor(DType::kFloat32, shape, scales));
    Node node = twin_of(node_, "DequantizeLinear", {node_.inputs[kBias], scale}, add_value(".bias"));
    node.attributes.set("axis", int64_t{0});
    const ValueId result = node.outputs[0];
    editor_.insert_before(index_, std::move(node));
    return result;
  }

  Editor& editor_;
  int32_t index_;
  Node node_;
};

}  // namespace

Summary quantized_lowering(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  const int32_t count = editor.count();
  for (int32_t i = 0; i < count; ++i) {
    if (editor.node(i).op != "QLinearConv" && editor.node(i).op != "QLinearMatMul") continue;
    const std::string name = editor.node(i).name;
    const std::string op = editor.node(i).op;
    if (const Refusal reason = Lowering(editor, i).run()) {
      summary.refuse(fmt::format("'{}' stays {}: {}", name, op, reason.text()));
    } else {
      summary.change(fmt::format("'{}' ({}) written with numbers in floating point", name, op));
    }
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
