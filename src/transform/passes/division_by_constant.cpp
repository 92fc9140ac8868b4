// Replaces division by a constant with multiplication by its reciprocal, which can be fused in more cases and
// is faster. The reciprocal is rounded once, so the last digit of a result may differ.
#include <cmath>

#include "transform/constants.hpp"
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"

namespace hone::transform {
namespace {

/// True if a number is in the normal range of its type: larger numbers would be infinite, and smaller ones
/// would lose more than the last digit. float64 is judged like float32, in which engines compute.
bool is_normal_in(DType dtype, double value) {
  constexpr double kSmallestHalf = 0x1p-14;
  constexpr double kLargestHalf = 65504;
  if (dtype != DType::kFloat16) return std::isnormal(static_cast<float>(value));
  return std::abs(value) >= kSmallestHalf && std::abs(value) <= kLargestHalf;
}

/// Reciprocals of all elements; nullopt if one of them is not in the normal range of the tensor's type.
std::optional<std::vector<double>> reciprocals(const Tensor& tensor) {
  std::vector<double> elements = tensor.to_double();
  for (double& element : elements) {
    element = 1 / element;
    if (!is_normal_in(tensor.dtype(), element)) return std::nullopt;
  }
  return elements;
}

}  // namespace

Summary division_by_constant(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  for (int32_t i = 0; i < editor.count(); ++i) {
    const Node node = editor.node(i);
    const Tensor* divisor = node.op == "Div" ? graph.constant(node.inputs[1]) : nullptr;
    if (divisor == nullptr || !tensor::is_floating(divisor->dtype())) continue;
    const auto elements = reciprocals(*divisor);
    if (!elements) {
      summary.refuse(
          fmt::format("'{}' stays a division: an element of the divisor has no reciprocal", node.name));
      continue;
    }
    Tensor factor = floating_tensor(divisor->dtype(), divisor->shape(), *elements);
    const ValueId constant = editor.add_constant(node.name + ".factor", std::move(factor));
    summary.change(fmt::format("'{}' became a product", node.name));
    editor.replace(i, derived_node(node, "Mul", {node.inputs[0], constant}));
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
