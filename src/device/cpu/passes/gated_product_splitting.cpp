// Replaces a product whose channels are computed together, and then only used in parts by elementwise
// operators, by one product for each part. Gated layers (GLU, SwiGLU, GEGLU) are written so:
//
//       x ── MatMul(w) ─┬─ Slice ── Silu ─┐                 x ─┬─ MatMul(w_1) with Silu ─┐
//                       └─ Slice ─────────┴─ Mul    ──▶        └─ MatMul(w_2) with Mul ──┴──
//
// Nothing moves the parts, and the products take what follows them.
#include <algorithm>
#include <numeric>
#include <optional>

#include "device/cpu/passes/pass_list.hpp"
#include "graph/operator.hpp"
#include "transform/constants.hpp"
#include "transform/fusion.hpp"

namespace hone::device::cpu {

using namespace transform;

namespace {

/// Parts have whole vectors of AVX-512: blocked layouts would fill up other numbers of channels with zeros.
constexpr int64_t kChannelMultiple = 16;

/// Channels that one node takes out of a result.
struct Part {
  int32_t reader = -1;
  ValueId output = kNoValue;
  int64_t first = 0;
  int64_t count = 0;
};

/// A product with constant weights, and the row that is added to it.
struct Product {
  int32_t base = -1;
  int32_t sum = -1;         ///< -1 where nothing is added
  size_t row = 0;           ///< the input of the sum that is constant
  size_t channel_axis = 0;  ///< of the weights
};

/// The elements [first, first + count) along one axis.
Tensor part_of(const Tensor& whole, size_t axis, int64_t first, int64_t count) {
  tensor::Shape shape = whole.shape();
  const int64_t length = shape[axis];
  shape[axis] = count;
  const int64_t inner = std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, shape.end(),
                                        int64_t{1}, std::multiplies<>());
  Tensor part(graph::DType::kFloat32, shape);
  const float* from = whole.values<float>().data() + first * inner;
  float* to = part.mutable_values<float>().data();
  for (int64_t left = part.size(); left > 0; left -= count * inner, from += length * inner)
    to = std::copy_n(from, count * inner, to);
  return part;
}

bool is_float32(const Tensor* constant) {
  return constant != nullptr && constant->dtype() == graph::DType::kFloat32;
}

class Splitting {
 public:
  explicit Splitting(Graph& graph) : graph_(graph), editor_(graph) {}

  Summary run() {
    const int32_t count = editor_.count();
    for (int32_t i = 0; i < count; ++i) {
      if (editor_.alive(i)) visit(i);
    }
    editor_.commit();
    return std::move(summary_);
  }

 private:
  void visit(int32_t index) {
    const Node& node = editor_.node(index);
    if (node.outputs.size() != 1) return;
    const auto product = product_of(index);
    if (!product) return;
    const ValueId whole = node.outputs[0];
    const std::vector<Part> parts = parts_of(whole, editor_.node(product->base).op == "Conv");
    if (parts.size() < 2) return;
    summary_.change(fmt::format("'{}' became {} products", editor_.node(product->base).name, parts.size()));
    for (size_t i = 0; i < parts.size(); ++i) make_part(index, *product, parts[i], i);
    for (const Part& part : parts) {
      if (editor_.alive(part.reader)) editor_.remove(part.reader);
    }
    if (product->sum >= 0) editor_.remove(product->sum);
    editor_.remove(product->base);
  }

  /// Node `index` as a product, or as the sum that ends one.
  std::optional<Product> product_of(int32_t index) const {
    const Node& node = editor_.node(index);
    if (node.op != "Add") return weighted(index, {});
    for (const size_t row : {0, 1}) {
      const Tensor* const bias = graph_.constant(node.inputs[row]);
      const ValueId value = node.inputs[1 - row];
      if (!is_float32(bias) || bias->rank() != 1 || !editor_.read_once(value)) continue;
      if (editor_.made_by(value, "MatMul") == nullptr) continue;
      auto found = weighted(editor_.producer(value), {.sum = index, .row = row});
      if (found && graph_.constant(editor_.node(found->base).inputs[1])->shape()[1] == bias->size())
        return found;
    }
    return std::nullopt;
  }

  std::optional<Product> weighted(int32_t index, Product product) const {
    const Node& node = editor_.node(index);
    if (node.op != "MatMul" && node.op != "Gemm" && node.op != "Conv") return std::nullopt;
    const Tensor* const weights = graph_.constant(node.inputs[1]);
    if (!is_float32(weights) || (node.op == "MatMul" && weights->rank() != 2)) return std::nullopt;
    if (node.has_input(2)) {
      const Tensor* const bias = graph_.constant(node.inputs[2]);
      if (!is_float32(bias) || bias->rank() != 1 || bias->size() == 1) return std::nullopt;
    }
    if (node.op == "Conv" && node.attributes.get_int("group") != 1) return std::nullopt;
    const bool transposed = node.op == "Gemm" && node.attributes.get_int("transB") != 0;
    product.base = index;
    product.channel_axis = node.op == "Conv" || transposed ? 0 : 1;
    return product;
  }

  /// The parts that the value is read in, along the channels of images or the columns of rows; none where it
  /// is also read as a whole, where parts overlap, or where others than elementwise operators read them.
  std::vector<Part> parts_of(ValueId whole, bool image) const {
    const graph::TensorType& type = graph_.value(whole).type;
    if (!type.ranked() || type.dims->size() < 2 || type.dtype != graph::DType::kFloat32 ||
        editor_.is_output(whole))
      return {};
    const int64_t axis = image ? 1 : static_cast<int64_t>(type.dims->size()) - 1;
    if (!(*type.dims)[static_cast<size_t>(axis)].known()) return {};
    const int64_t channels = (*type.dims)[static_cast<size_t>(axis)].value();
    std::vector<Part> parts;
    for (const int32_t reader : editor_.readers(whole)) {
      const Node& node = editor_.node(reader);
      int64_t first = node.op == "Split" ? 0 : slice_begin(node, axis, channels);
      if (first < 0 || (node.op == "Split" && !is_axis(node.attributes.get_int("axis"), axis, whole)))
        return {};
      for (const ValueId output : node.outputs) {
        const graph::TensorType& part = graph_.value(output).type;
        const graph::Dim& count = (*part.dims)[static_cast<size_t>(axis)];
        if (!count.known() || count.value() == 0 || count.value() % kChannelMultiple != 0 ||
            !is_elementwise(output))
          return {};
        parts.push_back({reader, output, first, count.value()});
        first += count.value();
      }
    }
    std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.first < b.first; });
    for (size_t i = 1; i < parts.size(); ++i) {
      if (parts[i - 1].first + parts[i - 1].count > parts[i].first) return {};
    }
    return parts;
  }

  bool is_axis(int64_t given, int64_t axis, ValueId value) const {
    return given == axis || given + static_cast<int64_t>(graph_.value(value).type.dims->size()) == axis;
  }

  /// The first channel of a slice of consecutive channels along one axis only, or -1.
  int64_t slice_begin(const Node& node, int64_t axis, int64_t channels) const {
    if (node.op != "Slice") return -1;
    const auto starts = known_integers(graph_, node.input(1));
    const auto axes = known_integers(graph_, node.input(3));
    const auto steps = known_integers(graph_, node.input(4));
    if (!starts || starts->size() != 1 || !axes || axes->size() != 1 ||
        !is_axis((*axes)[0], axis, node.inputs[0]))
      return -1;
    if (node.has_input(4) && (!steps || (*steps)[0] != 1)) return -1;
    const int64_t start = (*starts)[0] < 0 ? (*starts)[0] + channels : (*starts)[0];
    return std::clamp<int64_t>(start, -1, channels);
  }

  /// True if only elementwise operators read the value.
  bool is_elementwise(ValueId value) const {
    const std::vector<int32_t> readers = editor_.readers(value);
    return !readers.empty() && !editor_.is_output(value) &&
           std::all_of(readers.begin(), readers.end(),
                       [&](int32_t reader) { return graph::traits_of(editor_.node(reader)).elementwise; });
  }

  void make_part(int32_t index, const Product& product, const Part& part, size_t number) {
    const Node base = editor_.node(product.base);
    const auto constant = [&](const Node& node, size_t input, size_t axis) {
      return editor_.add_constant(
          fmt::format("{}.part", graph_.value(node.inputs[input]).name),
          part_of(*graph_.constant(node.inputs[input]), axis, part.first, part.count));
    };
    Node made = base;
    made.name = fmt::format("{}.{}", base.name, number);
    made.inputs[1] = constant(base, 1, product.channel_axis);
    if (base.has_input(2)) made.inputs[2] = constant(base, 2, 0);
    made.outputs = {editor_.add_value(made.name, graph::DType::kFloat32)};
    ValueId result = made.outputs[0];
    editor_.insert_before(index, std::move(made));
    if (product.sum >= 0) {
      Node sum = editor_.node(product.sum);
      sum.inputs[product.row] = constant(sum, product.row, 0);
      sum.inputs[1 - product.row] = result;
      sum.name = fmt::format("{}.{}", sum.name, number);
      sum.outputs = {editor_.add_value(sum.name, graph::DType::kFloat32)};
      result = sum.outputs[0];
      editor_.insert_before(index, std::move(sum));
    }
    editor_.redirect(part.output, result);
  }

  Graph& graph_;
  Editor editor_;
  Summary summary_;
};

}  // namespace

Summary gated_product_splitting(Graph& graph) { return Splitting(graph).run(); }

}  // namespace hone::device::cpu
