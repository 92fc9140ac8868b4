// Replaces powers with constant exponents by products, roots and reciprocals, for which devices have
// instructions. A root differs from a power at -infinity, where it is NaN, and at -0, whose sign it keeps,
// like PyTorch's powers of 0.5 and -0.5.
#include "transform/constants.hpp"
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"

namespace hone::transform {
namespace {

class Strength {
 public:
  Strength(Editor& editor, int32_t index) : editor_(editor), index_(index), power_(editor.node(index)) {}

  /// The new operator; empty if the power is kept.
  const char* reduce(double exponent) {
    const ValueId x = power_.inputs[0];
    if (exponent == 2) return become("Mul", {x, x});
    if (exponent == 3) return become("Mul", {insert("Mul", {x, x}), x});
    if (exponent == 4) {
      const ValueId square = insert("Mul", {x, x});
      return become("Mul", {square, square});
    }
    if (exponent == 0.5) return become("Sqrt", {x});
    if (exponent == -0.5) return become("Reciprocal", {insert("Sqrt", {x})});
    if (exponent == -1) return become("Reciprocal", {x});
    return nullptr;
  }

 private:
  const char* become(const char* op, std::vector<ValueId> inputs) {
    editor_.replace(index_, derived_node(power_, op, std::move(inputs)));
    return op;
  }

  ValueId insert(const char* op, std::vector<ValueId> inputs) {
    Node node = derived_node(power_, op, std::move(inputs));
    const ValueId result =
        editor_.add_value(power_.name + ".part", editor_.graph().value(power_.inputs[0]).type.dtype);
    node.name += ".part";
    node.outputs = {result};
    editor_.insert_before(index_, std::move(node));
    return result;
  }

  Editor& editor_;
  int32_t index_;
  const Node power_;
};

void reduce_power(Editor& editor, int32_t index, Summary& summary) {
  const Node node = editor.node(index);
  const auto exponent = scalar_constant(editor.graph(), node.inputs[1]);
  const graph::TensorType& base = editor.graph().value(node.inputs[0]).type;
  if (!exponent || !base.ranked() || !tensor::is_floating(base.dtype)) return;
  // An exponent with more dimensions would change the rank of the result.
  const Tensor* constant = editor.graph().constant(node.inputs[1]);
  if (constant->shape().size() > base.dims->size()) return;
  if (const char* op = Strength(editor, index).reduce(*exponent)) {
    summary.change(fmt::format("'{}' became {}", node.name, op));
  } else {
    summary.refuse(fmt::format("'{}' stays a power: its exponent is {}", node.name, *exponent));
  }
}

}  // namespace

Summary power_of_constant(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  const int32_t count = editor.count();
  for (int32_t i = 0; i < count; ++i) {
    if (editor.alive(i) && editor.node(i).op == "Pow") reduce_power(editor, i, summary);
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
