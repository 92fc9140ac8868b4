// Replaces an Einsum with one or two operands by transpositions, sums and a product of matrices or of
// elements.
#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "graph/einsum.hpp"
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"

namespace hone::transform {
namespace {

using Labels = std::vector<int>;

bool contains(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

bool repeats(Labels labels) {
  std::sort(labels.begin(), labels.end());
  return std::adjacent_find(labels.begin(), labels.end()) != labels.end();
}

/// A value and the labels of its axes.
struct Operand {
  ValueId id = graph::kNoValue;
  Labels labels;
};

/// Labels of both operands and the output; of one operand and the output; and of both operands but not the
/// output.
struct Product {
  Labels batch, left, right, contracted;
};

Labels joined(const Labels& a, const Labels& b, const Labels& c = {}) {
  Labels labels = a;
  labels.insert(labels.end(), b.begin(), b.end());
  labels.insert(labels.end(), c.begin(), c.end());
  return labels;
}

class Lowering {
 public:
  Lowering(Editor& editor, int32_t index, Summary& summary)
      : editor_(editor), index_(index), einsum_(editor.node(index)), summary_(summary) {}

  void run() {
    std::vector<int64_t> ranks;
    for (const ValueId input : einsum_.inputs) {
      const graph::TensorType& type = editor_.graph().value(input).type;
      if (!type.ranked() || !tensor::is_floating(type.dtype)) return;
      ranks.push_back(static_cast<int64_t>(type.dims->size()));
    }
    const auto equation = graph::parse_einsum(einsum_.attributes.get_string("equation"), ranks);
    if (std::any_of(equation.inputs.begin(), equation.inputs.end(), repeats)) return refuse();
    if (ranks.size() > 2) return refuse();
    read_sizes(equation);
    const Operand first{einsum_.inputs[0], equation.inputs[0]};
    if (ranks.size() == 1) return lower_one(first, equation.output);
    lower_two(first, {einsum_.inputs[1], equation.inputs[1]}, equation.output);
  }

 private:
  void refuse() { summary_.refuse(fmt::format("'{}' is no matrix product", einsum_.name)); }

  /// Reads the size of every label, and the labels in which the operands may differ because a size of 1 is
  /// broadcast.
  void read_sizes(const graph::EinsumEquation& equation) {
    for (size_t i = 0; i < equation.inputs.size(); ++i) {
      const graph::Dims& dims = *editor_.graph().value(einsum_.inputs[i]).type.dims;
      for (size_t d = 0; d < dims.size(); ++d) {
        const auto [at, is_new] = sizes_.emplace(equation.inputs[i][d], dims[d]);
        if (!is_new && !at->second.same_as(dims[d])) spread_.push_back(equation.inputs[i][d]);
      }
    }
  }

  /// The product of the sizes; nullopt if one is open.
  std::optional<int64_t> size_of(const Labels& labels) const {
    int64_t size = 1;
    for (const int label : labels) {
      if (!sizes_.at(label).known()) return std::nullopt;
      size *= sizes_.at(label).value();
    }
    return size;
  }

  /// Inserts the node before the Einsum; returns its result.
  ValueId insert(Node node, const std::string& what) {
    const ValueId result =
        editor_.add_value(einsum_.name + what, editor_.graph().value(einsum_.outputs[0]).type.dtype);
    node.name += what;
    node.outputs = {result};
    editor_.insert_before(index_, std::move(node));
    return result;
  }

  /// Makes the last node so far produce the Einsum's own output; `what` names a node that follows it.
  void finish(Node last, const Labels& from, const Labels& to, const std::string& what) {
    summary_.change(fmt::format("'{}' became {}", einsum_.name, last.op == "Reshape" ? "MatMul" : last.op));
    if (from == to) return editor_.replace(index_, std::move(last));
    editor_.replace(index_, transpose({insert(std::move(last), what), from}, to));
  }

  Node transpose(const Operand& operand, const Labels& to) const {
    std::vector<int64_t> perm;
    for (const int label : to) {
      perm.push_back(std::find(operand.labels.begin(), operand.labels.end(), label) - operand.labels.begin());
    }
    Node node = derived_node(einsum_, "Transpose", {operand.id});
    node.attributes.set("perm", std::move(perm));
    return node;
  }

  ValueId ints(const std::string& what, const std::vector<int64_t>& values) {
    const auto count = static_cast<int64_t>(values.size());
    return editor_.add_constant(einsum_.name + what, tensor::Tensor::of<int64_t>(values, {count}));
  }

  Node with_axes(const char* op, ValueId input, const std::string& what, const std::vector<int64_t>& axes) {
    return derived_node(einsum_, op, {input, ints(what + ".axes", axes)});
  }

  /// Sums over the axes that neither the output nor `other` has.
  Node sum(const Operand& operand, const Labels& others, Labels& kept, const std::string& what) {
    std::vector<int64_t> axes;
    for (size_t d = 0; d < operand.labels.size(); ++d) {
      if (contains(others, operand.labels[d])) {
        kept.push_back(operand.labels[d]);
      } else {
        axes.push_back(static_cast<int64_t>(d));
      }
    }
    Node node = with_axes("ReduceSum", operand.id, what, std::move(axes));
    node.attributes.set("keepdims", int64_t{0});
    return node;
  }

  void lower_one(const Operand& operand, const Labels& output) {
    if (operand.labels.size() == output.size()) {
      summary_.change(fmt::format("'{}' became Transpose", einsum_.name));
      return editor_.replace(index_, transpose(operand, output));
    }
    Labels kept;
    Node node = sum(operand, output, kept, ".sum");
    finish(std::move(node), kept, output, ".sum");
  }

  Operand without_own_sums(const Operand& operand, const Labels& others, const std::string& what) {
    const auto stays = [&](int label) { return contains(others, label); };
    if (std::all_of(operand.labels.begin(), operand.labels.end(), stays)) return operand;
    Operand result;
    Node node = sum(operand, others, result.labels, what);
    result.id = insert(std::move(node), what);
    return result;
  }

  void lower_two(Operand a, Operand b, const Labels& output) {
    const Product straight = classify(a, b, output);
    const Product swapped = classify(b, a, output);
    // MatMul broadcasts batches, but not an axis over which it sums.
    for (const int label : spread_) {
      if (contains(straight.contracted, label)) return refuse();
    }
    // A constant shape cannot contain an open size.
    const bool sized = spread_.empty() && size_of(joined(a.labels, b.labels)).has_value();
    if (!straight.contracted.empty() && !sized && !as_they_are(straight) && !as_they_are(swapped))
      return refuse();
    a = without_own_sums(a, joined(output, b.labels), ".left.sum");
    b = without_own_sums(b, joined(output, a.labels), ".right.sum");
    if (straight.contracted.empty()) return multiply_elements(a, b, output);
    if (effort(b, a, swapped, output) < effort(a, b, straight, output)) {
      multiply(b, a, swapped, output, {".right", ".left"});
    } else {
      multiply(a, b, straight, output, {".left", ".right"});
    }
  }

  static Product classify(const Operand& a, const Operand& b, const Labels& output) {
    Product product;
    for (const int label : output) {
      Labels& kind = !contains(b.labels, label)   ? product.left
                     : !contains(a.labels, label) ? product.right
                                                  : product.batch;
      kind.push_back(label);
    }
    for (const int label : a.labels) {
      if (!contains(output, label) && contains(b.labels, label)) product.contracted.push_back(label);
    }
    return product;
  }

  /// True if MatMul takes the operands unchanged: the second one has no batch, so the rows of the first may
  /// have several labels.
  static bool is_direct(const Product& product) {
    return product.batch.empty() && product.right.size() == 1 && product.contracted.size() == 1 &&
           !product.left.empty();
  }

  /// True if each operand's labels already are the axes of the product.
  static bool as_they_are(const Product& product) {
    return is_direct(product) ||
           (product.left.size() == 1 && product.right.size() == 1 && product.contracted.size() == 1);
  }

  /// The number of nodes in addition to the product.
  static int effort(const Operand& a, const Operand& b, const Product& product, const Labels& output) {
    const int moved = (joined(product.batch, product.left, product.contracted) != a.labels) +
                      (joined(product.batch, product.contracted, product.right) != b.labels) +
                      (joined(product.batch, product.left, product.right) != output);
    constexpr int kGrouping = 4;
    return moved + (as_they_are(product) ? 0 : kGrouping);
  }

  ValueId arranged(const Operand& operand, const Labels& wanted, const std::string& what) {
    return operand.labels == wanted ? operand.id : insert(transpose(operand, wanted), what);
  }

  /// Multiplies elementwise: axes that an operand lacks become axes of size 1.
  void multiply_elements(const Operand& a, const Operand& b, const Labels& output) {
    const auto spread = [&](const Operand& operand, const std::string& what) {
      Labels own;
      std::vector<int64_t> missing;
      for (size_t d = 0; d < output.size(); ++d) {
        if (contains(operand.labels, output[d])) {
          own.push_back(output[d]);
        } else {
          missing.push_back(static_cast<int64_t>(d));
        }
      }
      const ValueId value = arranged(operand, own, what);
      if (missing.empty()) return value;
      return insert(with_axes("Unsqueeze", value, what + ".ones", std::move(missing)), what + ".ones");
    };
    const ValueId left = spread(a, ".left");
    const ValueId right = spread(b, ".right");
    finish(derived_node(einsum_, "Mul", {left, right}), output, output, "");
  }

  /// Reshapes a value so that the sizes of `tail` follow those of `batch`.
  ValueId reshaped(ValueId value, const Labels& batch, const std::vector<Labels>& tail,
                   const std::string& what) {
    std::vector<int64_t> shape;
    for (const int label : batch) shape.push_back(*size_of({label}));
    for (const Labels& part : tail) shape.push_back(*size_of(part));
    return insert(derived_node(einsum_, "Reshape", {value, ints(what + ".shape", std::move(shape))}), what);
  }

  void multiply(const Operand& a, const Operand& b, const Product& product, const Labels& output,
                const std::array<std::string, 2>& names) {
    const auto& [batch, left, right, contracted] = product;
    const Labels made = joined(batch, left, right);
    ValueId first = arranged(a, joined(batch, left, contracted), names[0]);
    ValueId second = arranged(b, joined(batch, contracted, right), names[1]);
    if (as_they_are(product))
      return finish(derived_node(einsum_, "MatMul", {first, second}), made, output, ".product");
    first = reshaped(first, batch, {left, contracted}, names[0] + ".rows");
    second = reshaped(second, batch, {contracted, right}, names[1] + ".columns");
    const ValueId rows = insert(derived_node(einsum_, "MatMul", {first, second}), ".product");
    std::vector<int64_t> shape;
    for (const int label : made) shape.push_back(*size_of({label}));
    Node parted = derived_node(einsum_, "Reshape", {rows, ints(".shape", std::move(shape))});
    finish(std::move(parted), made, output, ".parted");
  }

  Editor& editor_;
  int32_t index_;
  const Node einsum_;
  Summary& summary_;
  std::map<int, graph::Dim> sizes_;
  Labels spread_;
};

}  // namespace

Summary einsum_lowering(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  const int32_t count = editor.count();
  for (int32_t i = 0; i < count; ++i) {
    if (editor.alive(i) && editor.node(i).op == "Einsum") Lowering(editor, i, summary).run();
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
