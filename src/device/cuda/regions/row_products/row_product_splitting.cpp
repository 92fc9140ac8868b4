// Replaces a product of few rows whose columns are split by products with the columns of each part: a token's
// queries, keys and values are then results of one step, and nothing moves them apart.
//
//   x -> MatMul(w) [-> Add(b)] [-> Reshape] -> Split -> q, k, v
//   x -> MatMul(w_q) [-> Add(b_q)] [-> Reshape] -> q, and so for k and v
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "device/cuda/passes/pass_list.hpp"
#include "device/cuda/regions/row_products/row_product.hpp"
#include "transform/fusion.hpp"

namespace hone::device::cuda {

using namespace transform;
using graph::Tensor;

namespace {

/// The nodes between the rows and the split; -1 where one is not there.
struct Chain {
  int32_t product = -1;
  int32_t sum = -1;
  int32_t reshape = -1;
  std::vector<int64_t> lengths;  ///< columns of the parts
};

bool has_row_shape(const Tensor& tensor, int64_t columns) {
  return tensor.dtype() == graph::DType::kFloat32 && tensor.rank() == 1 && tensor.shape()[0] == columns;
}

/// The columns of each output; nothing where another axis is split, or into more parts than the kernel takes.
std::optional<std::vector<int64_t>> lengths_of(const Editor& editor, const Node& split) {
  const graph::TensorType& type = editor.graph().value(split.inputs[0]).type;
  if (!type.fully_known() || type.dims->empty() || split.outputs.size() > kMostProducts) return std::nullopt;
  const auto rank = static_cast<int64_t>(type.dims->size());
  const int64_t axis = split.attributes.get_int("axis");
  if (axis != -1 && axis != rank - 1) return std::nullopt;
  std::vector<int64_t> lengths;
  for (const ValueId output : split.outputs) {
    const graph::TensorType& part = editor.graph().value(output).type;
    if (!part.fully_known() || part.dims->size() != type.dims->size() || editor.is_output(output))
      return std::nullopt;
    lengths.push_back(part.dims->back().value());
  }
  return lengths;
}

std::optional<Chain> chain_of(const Editor& editor, const Node& split) {
  const auto lengths = lengths_of(editor, split);
  if (!lengths) return std::nullopt;
  const int64_t columns = std::accumulate(lengths->begin(), lengths->end(), int64_t{0});
  const Graph& graph = editor.graph();
  Chain chain{.lengths = *lengths};
  ValueId value = split.inputs[0];
  if (!editor.read_once(value)) return std::nullopt;
  if (const Node* reshape = editor.made_by(value, "Reshape")) {
    const graph::TensorType& type = graph.value(reshape->inputs[0]).type;
    if (!type.fully_known() || type.dims->empty() || !type.dims->back().is(columns)) return std::nullopt;
    chain.reshape = editor.producer(value);
    value = reshape->inputs[0];
    if (!editor.read_once(value)) return std::nullopt;
  }
  if (const Node* sum = editor.made_by(value, "Add")) {
    const size_t row = graph.constant(sum->inputs[0]) != nullptr ? 0 : 1;
    const Tensor* const bias = graph.constant(sum->inputs[row]);
    if (bias == nullptr || !has_row_shape(*bias, columns)) return std::nullopt;
    chain.sum = editor.producer(value);
    value = sum->inputs[1 - row];
    if (!editor.read_once(value)) return std::nullopt;
  }
  chain.product = editor.producer(value);
  if (chain.product < 0) return std::nullopt;
  const Node& product = editor.node(chain.product);
  if ((product.op != "MatMul" && product.op != "Gemm") || !is_row_product(graph, product))
    return std::nullopt;
  if (product.has_input(2) && !has_row_shape(*graph.constant(product.inputs[2]), columns))
    return std::nullopt;
  return chain;
}

/// The columns [first, first + count) of a matrix of that many rows, or of rows where it is transposed.
Tensor columns_of(const Tensor& matrix, bool transposed, int64_t first, int64_t count) {
  const int64_t rows = matrix.shape()[transposed ? 1 : 0];
  Tensor part(graph::DType::kFloat32, transposed ? tensor::Shape{count, rows} : tensor::Shape{rows, count});
  const float* const from = matrix.values<float>().data();
  float* to = part.mutable_values<float>().data();
  if (transposed) {
    std::copy_n(from + first * rows, count * rows, to);
    return part;
  }
  const int64_t pitch = matrix.shape()[1];
  for (int64_t row = 0; row < rows; ++row) to = std::copy_n(from + row * pitch + first, count, to);
  return part;
}

Tensor part_of_row(const Tensor& row, int64_t first, int64_t count) {
  Tensor part(graph::DType::kFloat32, {count});
  std::copy_n(row.values<float>().data() + first, count, part.mutable_values<float>().data());
  return part;
}

void split_product(Editor& editor, int32_t index, const Chain& chain) {
  const Node split = editor.node(index);
  const Node product = editor.node(chain.product);
  int64_t first = 0;
  for (size_t i = 0; i < split.outputs.size(); ++i) {
    const int64_t count = chain.lengths[i];
    const std::string name = fmt::format("{}.{}", product.name, i);
    Node part = product;
    part.name = name;
    part.inputs[1] = editor.add_constant(
        name + ".columns",
        columns_of(*editor.graph().constant(product.inputs[1]),
                   product.op == "Gemm" && product.attributes.get_int("transB") != 0, first, count));
    if (product.has_input(2))
      part.inputs[2] = editor.add_constant(
          name + ".bias", part_of_row(*editor.graph().constant(product.inputs[2]), first, count));
    const auto result = [&] { return editor.add_value(name, graph::DType::kFloat32); };
    part.outputs = {result()};
    ValueId value = part.outputs[0];
    // Behind the split nothing that it needs is still to be made.
    editor.insert_before(index, std::move(part));
    if (chain.sum >= 0) {
      Node sum = editor.node(chain.sum);
      const size_t row = editor.graph().constant(sum.inputs[0]) != nullptr ? 0 : 1;
      sum.name = name + ".sum";
      sum.inputs[row] = editor.add_constant(
          sum.name + ".row", part_of_row(*editor.graph().constant(sum.inputs[row]), first, count));
      sum.inputs[1 - row] = value;
      sum.outputs = {result()};
      value = sum.outputs[0];
      editor.insert_before(index, std::move(sum));
    }
    if (chain.reshape >= 0) {
      Node reshape = editor.node(chain.reshape);
      std::vector<int64_t> shape;
      for (const graph::Dim& dim : *editor.graph().value(split.outputs[i]).type.dims)
        shape.push_back(dim.value());
      reshape.name = name + ".shaped";
      reshape.attributes.set("allowzero", int64_t{0});
      reshape.inputs = {value, editor.add_constant(reshape.name + ".shape",
                                                   Tensor::of(shape, {static_cast<int64_t>(shape.size())}))};
      reshape.outputs = {result()};
      value = reshape.outputs[0];
      editor.insert_before(index, std::move(reshape));
    }
    editor.redirect(split.outputs[i], value);
    first += count;
  }
  for (const int32_t old : {index, chain.reshape, chain.sum, chain.product}) {
    if (old >= 0) editor.remove(old);
  }
}

}  // namespace

Summary row_product_splitting(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  const int32_t count = editor.count();
  for (int32_t i = 0; i < count; ++i) {
    if (!editor.alive(i) || editor.node(i).op != "Split") continue;
    const auto chain = chain_of(editor, editor.node(i));
    if (!chain) continue;
    summary.change(fmt::format("'{}' became {} products", editor.node(chain->product).name,
                               editor.node(i).outputs.size()));
    split_product(editor, i, *chain);
  }
  editor.commit();
  return summary;
}

}  // namespace hone::device::cuda
