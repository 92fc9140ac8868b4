// Makes transpositions and a matrix product of an Einsum that is one.
#include <algorithm>
#include <array>

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

/// The labels of one product: batches in the order of the output, and one each of the others.
struct Product {
  Labels batch;
  int left = 0;
  int right = 0;
  int contracted = 0;
};

/// Nullopt when an axis is summed alone, or one of the three that a matrix product has is missing or not one.
std::optional<Product> read_product(const graph::EinsumEquation& equation) {
  const Labels& a = equation.inputs[0];
  const Labels& b = equation.inputs[1];
  Labels left, right, contracted;
  Product product;
  for (const int label : equation.output) {
    Labels& kind = !contains(b, label) ? left : !contains(a, label) ? right : product.batch;
    kind.push_back(label);
  }
  for (const Labels& input : {a, b}) {
    for (const int label : input) {
      if (contains(equation.output, label) || contains(contracted, label)) continue;
      if (!contains(a, label) || !contains(b, label)) return std::nullopt;
      contracted.push_back(label);
    }
  }
  if (left.size() != 1 || right.size() != 1 || contracted.size() != 1) return std::nullopt;
  product.left = left[0];
  product.right = right[0];
  product.contracted = contracted[0];
  return product;
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
    if (ranks.size() == 1 && equation.inputs[0].size() == equation.output.size()) {
      editor_.replace(index_, transpose(einsum_.inputs[0], equation.inputs[0], equation.output));
      summary_.change(fmt::format("'{}' became Transpose", einsum_.name));
      return;
    }
    const auto product = ranks.size() == 2 ? read_product(equation) : std::nullopt;
    if (!product || !agree(equation, *product)) return refuse();
    multiply(equation, *product);
    summary_.change(fmt::format("'{}' became MatMul", einsum_.name));
  }

 private:
  void refuse() { summary_.refuse(fmt::format("'{}' is no matrix product", einsum_.name)); }

  /// Whether the contracted axis has one known size, or one symbol: unlike MatMul, Einsum spreads a size
  /// of 1.
  bool agree(const graph::EinsumEquation& equation, const Product& product) const {
    const auto dim = [&](size_t input) {
      const Labels& labels = equation.inputs[input];
      const auto at = std::find(labels.begin(), labels.end(), product.contracted) - labels.begin();
      return (*editor_.graph().value(einsum_.inputs[input]).type.dims)[static_cast<size_t>(at)];
    };
    return dim(0).same_as(dim(1));
  }

  Node transpose(ValueId input, const Labels& from, const Labels& to) const {
    std::vector<int64_t> perm;
    for (const int label : to) perm.push_back(std::find(from.begin(), from.end(), label) - from.begin());
    Node node = derived_node(einsum_, "Transpose", {input});
    node.attributes.set("perm", std::move(perm));
    return node;
  }

  /// Puts the node ahead of the Einsum; its result.
  ValueId insert(Node node, const char* what) {
    const ValueId result =
        editor_.add_value(einsum_.name + what, editor_.graph().value(einsum_.outputs[0]).type.dtype);
    node.name += what;
    node.outputs = {result};
    editor_.insert_before(index_, std::move(node));
    return result;
  }

  /// The operands as a product reads them, and what it makes.
  struct Way {
    std::array<size_t, 2> order;
    Labels first, second, made;

    int transpositions(const graph::EinsumEquation& equation) const {
      return (equation.inputs[order[0]] != first) + (equation.inputs[order[1]] != second) +
             (equation.output != made);
    }
  };

  ValueId arranged(size_t input, const graph::EinsumEquation& equation, const Labels& wanted) {
    const ValueId value = einsum_.inputs[input];
    if (equation.inputs[input] == wanted) return value;
    return insert(transpose(value, equation.inputs[input], wanted), input == 0 ? ".left" : ".right");
  }

  void multiply(const graph::EinsumEquation& equation, const Product& product) {
    const auto with = [&](int row, int column) {
      Labels labels = product.batch;
      labels.insert(labels.end(), {row, column});
      return labels;
    };
    const int sum = product.contracted;
    const Way straight = {
        {0, 1}, with(product.left, sum), with(sum, product.right), with(product.left, product.right)};
    const Way swapped = {
        {1, 0}, with(product.right, sum), with(sum, product.left), with(product.right, product.left)};
    const bool swaps = swapped.transpositions(equation) < straight.transpositions(equation);
    const Way& way = swaps ? swapped : straight;
    const ValueId first = arranged(way.order[0], equation, way.first);
    const ValueId second = arranged(way.order[1], equation, way.second);
    Node matmul = derived_node(einsum_, "MatMul", {first, second});
    if (way.made == equation.output) return editor_.replace(index_, std::move(matmul));
    const ValueId result = insert(std::move(matmul), ".product");
    editor_.replace(index_, transpose(result, way.made, equation.output));
  }

  Editor& editor_;
  int32_t index_;
  const Node einsum_;
  Summary& summary_;
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
