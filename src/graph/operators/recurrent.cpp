// Operator table entries of the recurrent family: RNN, GRU and LSTM.
#include "graph/recurrent.hpp"

#include "graph/operator_table.hpp"
#include "graph/operators/attribute_defs.hpp"
#include "graph/operators/type_rules.hpp"

namespace hone::graph {
namespace {

/// The properties in which the three operators differ.
struct Cell {
  int64_t gates;
  std::vector<std::string_view> activations;
  bool has_cell_state;
};

const Cell kRnn{1, {"Tanh"}, false};
const Cell kGru{3, {"Sigmoid", "Tanh"}, false};
const Cell kLstm{4, {"Sigmoid", "Tanh", "Tanh"}, true};

/// Attribute hidden_size, or without it the size from the recurrence weights.
Dim hidden_size(const InferenceContext& context) {
  if (!context.attributes().has("hidden_size")) return dim_of(context, 2, 2);
  const int64_t size = context.attributes().get_int("hidden_size");
  context.require(size >= 1, "attribute 'hidden_size' is {}, expected at least 1", size);
  return size;
}

void check_types(const InferenceContext& context) {
  require_floating(context, 0);
  for (size_t i = 1; i < context.input_count(); ++i) {
    if (i == 4) {
      require_dtype(context, i, {DType::kInt32});
    } else {
      require_same_dtype(context, 0, i);
    }
  }
  for (const size_t i : {0, 1, 2}) context.require_rank(i, 3, 3);
}

void infer_cell(InferenceContext& context, const Cell& cell) {
  check_types(context);
  const size_t count = read_reversed(context.attributes()).size();
  read_activations(context.attributes(), cell.activations, count);
  const int64_t layout = context.attributes().get_int("layout");
  context.require(layout == 0 || layout == 1, "attribute 'layout' is {}, expected 0 or 1", layout);
  const bool batch_major = layout == 1;
  const Dim directions = static_cast<int64_t>(count);
  const Dim steps = dim_of(context, 0, batch_major ? 1 : 0);
  const Dim batch = dim_of(context, 0, batch_major ? 0 : 1);
  const Dim hidden = hidden_size(context);
  const Dim rows = hidden * Dim(cell.gates);
  const Dims state = batch_major ? Dims{batch, directions, hidden} : Dims{directions, batch, hidden};
  expect_dims(context, 1, {directions, rows, dim_of(context, 0, 2)});
  expect_dims(context, 2, {directions, rows, hidden});
  expect_dims(context, 3, {directions, rows * Dim(2)});
  expect_dims(context, 4, {batch});
  expect_dims(context, 5, state);
  if (cell.has_cell_state) {
    expect_dims(context, 6, state);
    expect_dims(context, 7, {directions, hidden * Dim(3)});
  }
  context.set_output(
      0, context.dtype(0),
      batch_major ? Dims{batch, steps, directions, hidden} : Dims{steps, directions, batch, hidden});
  context.set_output(1, context.dtype(0), state);
  if (cell.has_cell_state) context.set_output(2, context.dtype(0), state);
}

/// Two operations per multiply-add of both weight matrices, at every step.
double recurrent_flops(const Graph& graph, const Node& node) {
  const Dims& x = *graph.value(node.inputs[0]).type.dims;
  const Dims& w = *graph.value(node.inputs[1]).type.dims;
  const Dims& r = *graph.value(node.inputs[2]).type.dims;
  const double columns = static_cast<double>(w[2].value() + r[2].value());
  return 2 * static_cast<double>(x[0].value()) * static_cast<double>(x[1].value()) *
         static_cast<double>(w[0].value()) * static_cast<double>(w[1].value()) * columns;
}

OperatorDef recurrent(std::string name, int inputs, int outputs, std::vector<AttributeDef> extra,
                      void (*infer)(InferenceContext&)) {
  std::vector<AttributeDef> attributes{optional_attribute("activation_alpha", AttributeKind::kFloats),
                                       optional_attribute("activation_beta", AttributeKind::kFloats),
                                       optional_attribute("activations", AttributeKind::kStrings),
                                       optional_attribute("clip", AttributeKind::kFloat),
                                       string_attribute("direction", "forward"),
                                       optional_attribute("hidden_size", AttributeKind::kInt),
                                       int_attribute("layout", 0)};
  attributes.insert(attributes.end(), extra.begin(), extra.end());
  return {.name = std::move(name),
          .since_version = 22,
          .min_inputs = 3,
          .max_inputs = inputs,
          .min_outputs = 0,
          .max_outputs = outputs,
          .attributes = std::move(attributes),
          .infer = infer,
          .flops = recurrent_flops,
          .traits = {.sums_products = true}};
}

}  // namespace

void add_recurrent_operators(std::vector<OperatorDef>& table) {
  table.push_back(recurrent("RNN", 6, 2, {}, [](InferenceContext& context) { infer_cell(context, kRnn); }));
  table.push_back(recurrent("GRU", 6, 2, {int_attribute("linear_before_reset", 0)},
                            [](InferenceContext& context) { infer_cell(context, kGru); }));
  table.push_back(recurrent("LSTM", 8, 3, {int_attribute("input_forget", 0)},
                            [](InferenceContext& context) { infer_cell(context, kLstm); }));
}

}  // namespace hone::graph
