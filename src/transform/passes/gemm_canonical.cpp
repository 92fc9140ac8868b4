// Converts products of two matrices to one form: MatMul with a bias becomes Gemm, Gemm's factors are folded
// into constants, and transposed operands become transA and transB. Constant weights keep their layout,
// because an engine packs them anyway. If a Reshape splits the rows of a Gemm into several dimensions, it
// becomes a MatMul of an input that already has these dimensions, so that the following nodes can be fused
// with the product.
#include <algorithm>

#include "transform/constants.hpp"
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"

namespace hone::transform {
namespace {

/// True if an operand is a bias of a matrix, which is the same for every row of the result.
bool is_row(const graph::TensorType& type, const graph::TensorType& result) {
  if (!broadcasts_into(type, result)) return false;
  return type.dims->size() < 2 || (*type.dims)[0].is(1);
}

/// MatMul of two matrices and the addition of a row become Gemm.
bool take_bias(Editor& editor, int32_t index, Summary& summary) {
  const Node product = editor.node(index);
  if (product.op != "MatMul") return false;
  const Graph& graph = editor.graph();
  const ValueId result = product.outputs[0];
  const int32_t reader_index = editor.single_reader(result);
  if (reader_index < 0 || editor.node(reader_index).op != "Add") return false;
  const Node add = editor.node(reader_index);
  for (const ValueId operand : product.inputs) {
    const graph::TensorType& type = graph.value(operand).type;
    if (!type.ranked() || type.dims->size() != 2 || !tensor::is_floating(type.dtype)) return false;
  }
  const ValueId row = add.inputs[add.inputs[0] == result ? 1 : 0];
  if (!is_row(graph.value(row).type, graph.value(result).type)) return false;
  Node gemm = derived_node(add, "Gemm", {product.inputs[0], product.inputs[1], row});
  join_names(gemm, product, add);
  summary.change(fmt::format("'{}' and '{}' became Gemm", product.name, add.name));
  editor.remove(index);
  editor.replace(reader_index, std::move(gemm));
  return true;
}

/// Multiplies a constant input by a factor attribute, which becomes 1; returns false if the input is not
/// constant.
bool fold_factor(Editor& editor, Node& gemm, size_t input, const char* attribute) {
  const double factor = gemm.attributes.get_float(attribute);
  if (factor == 1) return false;
  const Tensor* tensor = editor.graph().constant(gemm.input(input));
  if (tensor == nullptr || !tensor::is_floating(tensor->dtype())) return false;
  std::vector<double> elements = tensor->to_double();
  for (double& element : elements) element *= factor;
  Tensor scaled = floating_tensor(tensor->dtype(), tensor->shape(), elements);
  gemm.inputs[input] = editor.add_constant(editor.graph().value(gemm.inputs[input]).name, std::move(scaled));
  gemm.attributes.set(attribute, 1.0f);
  return true;
}

bool is_matrix_transpose(const Node* node) {
  if (node == nullptr) return false;
  return !node->attributes.has("perm") || node->attributes.get_ints("perm") == std::vector<int64_t>{1, 0};
}

bool fold_transpose(Editor& editor, Node& gemm, size_t input, const char* attribute) {
  const Node* transpose = editor.made_by(gemm.inputs[input], "Transpose");
  if (!is_matrix_transpose(transpose)) return false;
  gemm.inputs[input] = transpose->inputs[0];
  gemm.attributes.set(attribute, int64_t{gemm.attributes.get_int(attribute) == 0 ? 1 : 0});
  return true;
}

/// The target of a Reshape to this type with its last dimension, `from`, replaced by `columns`; nullopt if it
/// has no more dimensions than a matrix, or dimensions that a target cannot express.
std::optional<std::vector<int64_t>> rows_target(const graph::TensorType& type, int64_t from,
                                                int64_t columns) {
  if (!type.ranked() || type.dims->size() < 3 || !type.dims->back().is(from) || from == 0 || columns == 0)
    return std::nullopt;
  std::vector<int64_t> target;
  for (size_t i = 0; i + 1 < type.dims->size(); ++i) {
    const graph::Dim& dim = (*type.dims)[i];
    if (dim.is(0)) return std::nullopt;
    target.push_back(dim.known() ? dim.value() : -1);
  }
  if (std::count(target.begin(), target.end(), -1) > 1) return std::nullopt;
  target.push_back(columns);
  return target;
}

/// Rewrites Reshape(Gemm(a, constant, row)) as Add(MatMul(Reshape(a), constant), row).
bool take_dimensions(Editor& editor, int32_t index, Summary& summary) {
  const Node gemm = editor.node(index);
  const Graph& graph = editor.graph();
  if (gemm.op != "Gemm" || gemm.attributes.get_int("transA") != 0 ||
      gemm.attributes.get_float("alpha") != 1 || gemm.attributes.get_float("beta") != 1)
    return false;
  const Tensor* const matrix = graph.constant(gemm.inputs[1]);
  const int32_t reader = editor.single_reader(gemm.outputs[0]);
  if (matrix == nullptr || reader < 0 || editor.node(reader).op != "Reshape" ||
      editor.node(reader).inputs[0] != gemm.outputs[0])
    return false;
  const Node reshape = editor.node(reader);
  const bool turned = gemm.attributes.get_int("transB") != 0;
  const auto shape = rows_target(graph.value(reshape.outputs[0]).type, matrix->shape()[turned ? 0 : 1],
                                 matrix->shape()[turned ? 1 : 0]);
  if (!shape) return false;
  if (gemm.has_input(2)) {
    const graph::TensorType& row = graph.value(gemm.inputs[2]).type;
    if (!row.ranked() || (row.dims->size() == 2 && !(*row.dims)[0].is(1))) return false;
  }
  summary.change(fmt::format("'{}' became MatMul of the rows that '{}' makes", gemm.name, reshape.name));
  const graph::DType dtype = graph.value(gemm.outputs[0]).type.dtype;
  Node rows = derived_node(reshape, "Reshape", {gemm.inputs[0], kNoValue});
  rows.inputs[1] =
      editor.add_constant(reshape.name + ".rows", Tensor::of(*shape, {static_cast<int64_t>(shape->size())}));
  rows.outputs = {editor.add_value(reshape.name + ".rows", dtype)};
  ValueId columns = gemm.inputs[1];
  if (turned) {
    Node transpose = derived_node(gemm, "Transpose", {columns});
    transpose.attributes.set("perm", std::vector<int64_t>{1, 0});
    transpose.outputs = {editor.add_value(gemm.name + ".columns", dtype)};
    columns = transpose.outputs[0];
    editor.insert_before(reader, std::move(transpose));
  }
  Node product = derived_node(gemm, "MatMul", {rows.outputs[0], columns});
  editor.insert_before(reader, std::move(rows));
  if (!gemm.has_input(2)) {
    product.outputs = reshape.outputs;
    editor.replace(reader, std::move(product));
  } else {
    product.outputs = {editor.add_value(gemm.name + ".product", dtype)};
    Node sum = derived_node(reshape, "Add", {product.outputs[0], gemm.inputs[2]});
    editor.insert_before(reader, std::move(product));
    editor.replace(reader, std::move(sum));
  }
  editor.remove(index);
  return true;
}

void normalise(Editor& editor, int32_t index, Summary& summary) {
  Node gemm = editor.node(index);
  if (gemm.op != "Gemm") return;
  bool changed = fold_transpose(editor, gemm, 0, "transA");
  changed |= fold_transpose(editor, gemm, 1, "transB");
  changed |= fold_factor(editor, gemm, 1, "alpha");
  changed |= fold_factor(editor, gemm, 2, "beta");
  if (!gemm.has_input(2) && gemm.attributes.get_float("beta") != 1) {
    gemm.attributes.set("beta", 1.0f);
    changed = true;
  }
  if (!changed) return;
  summary.change(fmt::format("'{}' brought into the common form", gemm.name));
  editor.replace(index, std::move(gemm));
}

}  // namespace

Summary gemm_canonical(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  for (int32_t i = 0; i < editor.count(); ++i) {
    if (!editor.alive(i) || take_bias(editor, i, summary) || take_dimensions(editor, i, summary)) continue;
    normalise(editor, i, summary);
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
