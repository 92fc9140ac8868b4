// Packs the products of one value with several constant matrices into one product if attention multiplies
// their results with each other: queries, keys and values then come from one product, and attention reads
// each as a part of its result.
#include <algorithm>

#include "transform/constants.hpp"
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"
#include "transform/pattern.hpp"

namespace hone::transform {
namespace {

/// Limit on the nodes between a projection and the product that reads it.
constexpr int kMostNodes = 16;

/// A product with a constant matrix, and the addition of a constant row if there is one.
struct Projection {
  int32_t product = -1;
  int32_t sum = -1;
  std::vector<double> bias;
  ValueId result = kNoValue;
  int64_t columns = 0;
};

/// True if the value, possibly rearranged and scaled, is an operand of a product of two computed values.
bool feeds_attention(const Editor& editor, ValueId id) {
  for (int i = 0; i < kMostNodes; ++i) {
    const int32_t reader = editor.single_reader(id);
    if (reader < 0) return false;
    const Node& node = editor.node(reader);
    if (node.op == "MatMul") return editor.graph().constant(other_operand(node, id)) == nullptr;
    const bool is_arranged = node.op == "Transpose" || node.op == "Reshape" || node.op == "Squeeze" ||
                             node.op == "Unsqueeze" || node.op == "Expand";
    const bool is_scaled = node.op == "Mul" && scalar_constant(editor.graph(), other_operand(node, id));
    if (!(is_arranged && node.inputs[0] == id) && !is_scaled) return false;
    id = node.outputs[0];
  }
  return false;
}

std::optional<Projection> find_projection(const Editor& editor, int32_t index) {
  const Graph& graph = editor.graph();
  const Node& product = editor.node(index);
  const graph::Tensor* matrix = product.op == "MatMul" ? graph.constant(product.inputs[1]) : nullptr;
  if (matrix == nullptr || matrix->shape().size() != 2 || matrix->dtype() != graph::DType::kFloat32)
    return std::nullopt;
  const graph::TensorType& type = graph.value(product.outputs[0]).type;
  if (!type.ranked() || type.dims->size() < 2) return std::nullopt;
  Projection projection{.product = index, .result = product.outputs[0], .columns = matrix->shape()[1]};
  const int32_t reader = editor.single_reader(projection.result);
  if (reader < 0) return std::nullopt;
  if (editor.node(reader).op == "Add") {
    const auto rank = static_cast<int64_t>(type.dims->size());
    auto bias = per_channel(graph, other_operand(editor.node(reader), projection.result), rank, rank - 1,
                            projection.columns);
    if (!bias) return std::nullopt;
    projection.sum = reader;
    projection.bias = std::move(*bias);
    projection.result = editor.node(reader).outputs[0];
  }
  if (!feeds_attention(editor, projection.result)) return std::nullopt;
  return projection;
}

/// The columns of all matrices next to each other.
graph::Tensor join_matrices(const Graph& graph, const Editor& editor, const std::vector<Projection>& parts,
                            int64_t columns) {
  const auto matrix = [&](const Projection& part) -> const graph::Tensor& {
    return *graph.constant(editor.node(part.product).inputs[1]);
  };
  const int64_t rows = matrix(parts[0]).shape()[0];
  graph::Tensor joined(graph::DType::kFloat32, {rows, columns});
  float* to = joined.mutable_values<float>().data();
  for (int64_t row = 0; row < rows; ++row) {
    for (const Projection& part : parts)
      to = std::copy_n(matrix(part).values<float>().data() + row * part.columns, part.columns, to);
  }
  return joined;
}

void pack(Editor& editor, const std::vector<Projection>& parts) {
  std::vector<const Node*> products;
  std::vector<const Node*> sums;
  std::vector<int64_t> lengths;
  std::vector<double> bias;
  for (const Projection& part : parts) {
    products.push_back(&editor.node(part.product));
    if (part.sum >= 0) sums.push_back(&editor.node(part.sum));
    lengths.push_back(part.columns);
    bias.insert(bias.end(), part.bias.begin(), part.bias.end());
    // A projection without a bias gets zeros.
    bias.resize(bias.size() + static_cast<size_t>(part.columns) - part.bias.size());
  }
  const auto columns = static_cast<int64_t>(bias.size());
  Node product = *products[0];
  join_names(product, products);
  Node sum;
  if (!sums.empty()) {
    sum = *sums[0];
    join_names(sum, sums);
  }
  const int32_t place = parts[0].product;
  const std::string name = product.name;
  product.inputs[1] =
      editor.add_constant(name + ".columns", join_matrices(editor.graph(), editor, parts, columns));
  product.outputs = {editor.add_value(name, graph::DType::kFloat32)};
  ValueId whole = product.outputs[0];
  std::vector<Node> made = {std::move(product)};
  if (!sums.empty()) {
    const ValueId row =
        editor.add_constant(name + ".bias", floating_tensor(graph::DType::kFloat32, {columns}, bias));
    sum.inputs = {whole, row};
    sum.outputs = {editor.add_value(sum.name, graph::DType::kFloat32)};
    whole = sum.outputs[0];
    made.push_back(std::move(sum));
  }
  Node split;
  split.op = "Split";
  split.name = name + ".split";
  split.attributes.set("axis", int64_t{-1});
  split.inputs = {whole,
                  editor.add_constant(split.name + ".lengths",
                                      graph::Tensor::of(lengths, {static_cast<int64_t>(lengths.size())}))};
  for (const Projection& part : parts) {
    split.outputs.push_back(editor.add_value(editor.graph().value(part.result).name, graph::DType::kFloat32));
    editor.redirect(part.result, split.outputs.back());
  }
  made.push_back(std::move(split));
  for (Node& node : made) editor.insert_before(place, std::move(node));
  for (const Projection& part : parts) {
    editor.remove(part.product);
    if (part.sum >= 0) editor.remove(part.sum);
  }
}

}  // namespace

Summary projection_packing(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  for (int32_t i = 0; i < editor.count(); ++i) {
    if (!editor.alive(i)) continue;
    const auto first = find_projection(editor, i);
    if (!first) continue;
    std::vector<Projection> parts = {*first};
    for (const int32_t reader : editor.readers(editor.node(i).inputs[0])) {
      if (reader <= i || editor.node(reader).op != "MatMul" ||
          editor.node(reader).inputs[0] != editor.node(i).inputs[0])
        continue;
      if (auto other = find_projection(editor, reader)) parts.push_back(std::move(*other));
    }
    if (parts.size() < 2) continue;
    summary.change(
        fmt::format("'{}' and {} more products became one", editor.node(i).name, parts.size() - 1));
    pack(editor, parts);
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
