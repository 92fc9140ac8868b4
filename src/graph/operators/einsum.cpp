// Operator table entry of Einsum, a part of the matrix family.
#include "graph/einsum.hpp"

#include <map>

#include "graph/operators/matrix.hpp"
#include "graph/operators/rules.hpp"

namespace hone::graph {
namespace {

/// Length of every label.
std::map<int, Dim> label_lengths(const EinsumEquation& equation, const std::vector<const Dims*>& inputs) {
  std::map<int, Dim> lengths;
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (size_t d = 0; d < inputs[i]->size(); ++d) {
      const auto [found, is_new] = lengths.emplace(equation.inputs[i][d], (*inputs[i])[d]);
      if (!is_new) found->second = broadcast_dims({found->second}, {(*inputs[i])[d]})[0];
    }
  }
  return lengths;
}

void infer_einsum(InferenceContext& context) {
  context.set_output(0, context.dtype(0), std::nullopt);
  std::vector<int64_t> ranks;
  std::vector<const Dims*> inputs;
  for (size_t i = 0; i < context.input_count(); ++i) {
    require_same_dtype(context, 0, i);
    if (!context.ranked(i)) return;
    ranks.push_back(context.rank(i));
    inputs.push_back(&context.dims(i));
  }
  const EinsumEquation equation = parse_einsum(context.attributes().get_string("equation"), ranks);
  const auto lengths = label_lengths(equation, inputs);
  Dims result;
  for (const int label : equation.output) result.push_back(lengths.at(label));
  context.set_output(0, context.dtype(0), std::move(result));
}

/// For every combination of labels: one multiplication per input after the first, and one addition.
double einsum_flops(const Graph& graph, const Node& node) {
  std::vector<int64_t> ranks;
  std::vector<const Dims*> inputs;
  for (const ValueId id : node.inputs) {
    inputs.push_back(&*graph.value(id).type.dims);
    ranks.push_back(static_cast<int64_t>(inputs.back()->size()));
  }
  const EinsumEquation equation = parse_einsum(node.attributes.get_string("equation"), ranks);
  auto flops = static_cast<double>(inputs.size());
  for (const auto& [label, length] : label_lengths(equation, inputs))
    flops *= static_cast<double>(length.value());
  return flops;
}

}  // namespace

void add_einsum_operator(std::vector<OperatorDef>& table) {
  table.push_back({.name = "Einsum",
                   .since_version = 12,
                   .min_inputs = 1,
                   .max_inputs = OperatorDef::kVariadic,
                   .attributes = {required_attribute("equation", AttributeKind::kString)},
                   .infer = infer_einsum,
                   .flops = einsum_flops,
                   .traits = {.sums_products = true}});
}

}  // namespace hone::graph
