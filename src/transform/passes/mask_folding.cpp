// Adds up the constant masks of attention scores in windows: a bias for each head and, in shifted windows, a
// mask that hides pixels of other windows (Liu et al., "Swin Transformer", 2021). Attention then reads one
// mask for each window and head.
//
//   scores -> Add(bias) -> Reshape -> Add(mask) -> ... -> Softmax
//   scores -> Reshape -> Add(bias + mask) -> ... -> Softmax
#include <algorithm>

#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"

namespace hone::transform {
namespace {

using graph::Dim;
using graph::DType;
using graph::Tensor;
using graph::TensorType;
using tensor::Shape;

/// Limit on the elements of a sum of masks, 16 MB: the sum varies along every dimension along which any of
/// the masks varies.
constexpr int64_t kMostElements = int64_t{1} << 22;

/// The index of the constant float32 operand of an addition whose other operand is not constant.
std::optional<size_t> constant_operand(const Graph& graph, const Node& node) {
  if (node.op != "Add") return std::nullopt;
  const Tensor* const constants[] = {graph.constant(node.inputs[0]), graph.constant(node.inputs[1])};
  if ((constants[0] == nullptr) == (constants[1] == nullptr)) return std::nullopt;
  const size_t operand = constants[0] != nullptr ? 0 : 1;
  if (constants[operand]->dtype() != DType::kFloat32) return std::nullopt;
  return operand;
}

/// True if only a softmax reads the value, possibly after other masks and reshapes.
bool feeds_softmax(const Editor& editor, ValueId value) {
  while (true) {
    const int32_t reader = editor.single_reader(value);
    if (reader < 0) return false;
    const Node& node = editor.node(reader);
    if (node.op == "Softmax") return true;
    if (node.op != "Reshape" && !constant_operand(editor.graph(), node)) return false;
    value = node.outputs[0];
  }
}

Shape without_leading_ones(const Shape& shape) {
  return {std::find_if(shape.begin(), shape.end(), [](int64_t size) { return size != 1; }), shape.end()};
}

/// True if the last `count` sizes of both types are known and equal.
bool end_alike(const TensorType& a, const TensorType& b, size_t count) {
  if (!a.ranked() || !b.ranked() || a.dims->size() < count || b.dims->size() < count) return false;
  return std::equal(a.dims->rbegin(), a.dims->rbegin() + static_cast<std::ptrdiff_t>(count), b.dims->rbegin(),
                    [](const Dim& x, const Dim& y) { return x.known() && y.is(x.value()); });
}

/// a + b with broadcasting; nothing if the result would be too large.
std::optional<Tensor> sum_of(const Tensor& a, const Shape& a_shape, const Tensor& b) {
  Shape shape;
  for (size_t i = 0; i < std::max(a_shape.size(), b.shape().size()); ++i) {
    const auto size = [i](const Shape& of) { return i < of.size() ? of[of.size() - 1 - i] : 1; };
    const int64_t left = size(a_shape);
    const int64_t right = size(b.shape());
    if (left != right && left != 1 && right != 1) return std::nullopt;
    shape.insert(shape.begin(), left == 1 ? right : left);
  }
  const int64_t count = tensor::element_count(shape);
  if (count > kMostElements) return std::nullopt;
  Tensor sum(DType::kFloat32, shape);
  const Shape a_strides = tensor::broadcast_strides(a_shape, shape);
  const Shape b_strides = tensor::broadcast_strides(b.shape(), shape);
  const auto from_a = a.values<float>();
  const auto from_b = b.values<float>();
  const auto to = sum.mutable_values<float>();
  Shape index(shape.size(), 0);
  int64_t at_a = 0;
  int64_t at_b = 0;
  for (int64_t i = 0; i < count; ++i) {
    to[static_cast<size_t>(i)] = from_a[static_cast<size_t>(at_a)] + from_b[static_cast<size_t>(at_b)];
    for (size_t d = shape.size(); d-- > 0;) {
      at_a += a_strides[d];
      at_b += b_strides[d];
      if (++index[d] < shape[d]) break;
      at_a -= a_strides[d] * shape[d];
      at_b -= b_strides[d] * shape[d];
      index[d] = 0;
    }
  }
  return sum;
}

/// The addition of a constant before addition `index`, and the reshape between them; -1 if absent.
struct Front {
  int32_t sum = -1;
  int32_t reshape = -1;
};

Front front_of(const Editor& editor, ValueId value) {
  Front front;
  if (!editor.read_once(value)) return front;
  if (const Node* reshape = editor.made_by(value, "Reshape")) {
    front.reshape = editor.producer(value);
    value = reshape->inputs[0];
    if (!editor.read_once(value)) return front;
  }
  const int32_t sum = editor.producer(value);
  if (sum >= 0 && constant_operand(editor.graph(), editor.node(sum))) front.sum = sum;
  return front;
}

void fold(Editor& editor, int32_t index, Summary& summary) {
  const Graph& graph = editor.graph();
  const auto operand = constant_operand(graph, editor.node(index));
  if (!operand || !feeds_softmax(editor, editor.node(index).outputs[0])) return;
  const ValueId behind = editor.node(index).inputs[1 - *operand];
  const Front front = front_of(editor, behind);
  if (front.sum < 0) return;
  const size_t first = *constant_operand(graph, editor.node(front.sum));
  const ValueId scores = editor.node(front.sum).inputs[1 - first];
  const Tensor& mask = *graph.constant(editor.node(front.sum).inputs[first]);
  const Shape shape = without_leading_ones(mask.shape());
  const TensorType& type = graph.value(scores).type;
  if (!type.ranked() || mask.shape().size() > type.dims->size()) return;
  if (front.reshape >= 0 &&
      (!end_alike(type, graph.value(behind).type, shape.size()) ||
       !end_alike(type, graph.value(editor.node(front.sum).outputs[0]).type, shape.size())))
    return;
  auto sum = sum_of(mask, shape, *graph.constant(editor.node(index).inputs[*operand]));
  if (!sum) return;
  Node joined = editor.node(index);
  join_names(joined, editor.node(front.sum), editor.node(index));
  summary.change(fmt::format("'{}' became one mask", joined.name));
  joined.inputs[*operand] = editor.add_constant(joined.name + ".mask", std::move(*sum));
  if (front.reshape >= 0) {
    editor.set_input(front.reshape, 0, scores);
  } else {
    joined.inputs[1 - *operand] = scores;
  }
  editor.replace(index, std::move(joined));
  editor.remove(front.sum);
}

}  // namespace

Summary mask_folding(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  const int32_t count = editor.count();
  for (int32_t i = 0; i < count; ++i) {
    if (editor.alive(i)) fold(editor, i, summary);
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
