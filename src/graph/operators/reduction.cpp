// Operator table entries of the reduction family: operators that combine the elements along axes.
#include <algorithm>

#include "graph/operator_table.hpp"
#include "graph/operators/batch_rules.hpp"
#include "graph/operators/convolution_rules.hpp"
#include "graph/operators/rules.hpp"

namespace hone::graph {
namespace {

using Kind = AttributeKind;

/// Shape of `dims` with `axes` reduced.
Dims reduced_dims(const Dims& dims, const std::vector<int64_t>& axes, bool keep) {
  std::vector<bool> reduced(dims.size(), false);
  for (const int64_t axis : axes) reduced[static_cast<size_t>(axis)] = true;
  Dims result;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!reduced[i]) result.push_back(dims[i]);
    if (reduced[i] && keep) result.push_back(1);
  }
  return result;
}

void infer_reduce(InferenceContext& context) {
  context.set_output(0, context.dtype(0), std::nullopt);
  if (context.has_input(1)) require_index_type(context, 1);
  if (!context.ranked(0)) return;
  const bool keep = context.attributes().get_int("keepdims") != 0;
  const bool noop = context.attributes().get_int("noop_with_empty_axes") != 0;
  std::vector<int64_t> axes;
  if (context.has_input(1)) {
    const auto known = context.known_data(1);
    if (!known) {
      if (keep) context.set_output(0, context.dtype(0), Dims(context.dims(0).size()));
      return;
    }
    axes = checked_axes(context, *known, context.rank(0));
  }
  if (axes.empty()) {
    if (noop) return infer_same(context);
    for (int64_t i = 0; i < context.rank(0); ++i) axes.push_back(i);
  }
  context.set_output(0, context.dtype(0), reduced_dims(context.dims(0), axes, keep));
}

void infer_arg(InferenceContext& context) {
  context.set_output(0, DType::kInt64, std::nullopt);
  if (!context.ranked(0)) return;
  const int64_t axis = context.axis("axis", context.rank(0));
  const bool keep = context.attributes().get_int("keepdims") != 0;
  context.set_output(0, DType::kInt64, reduced_dims(context.dims(0), {axis}, keep));
}

void infer_softmax(InferenceContext& context) {
  if (context.ranked(0)) context.axis("axis", context.rank(0));
  infer_same_floating(context);
}

void infer_cumsum(InferenceContext& context) {
  require_index_type(context, 1);
  const auto axis = context.known_data(1);
  if (axis && context.ranked(0)) {
    context.require(axis->size() == 1, "input 'axis' has {} elements, expected one", axis->size());
    checked_axis(context, axis->front(), context.rank(0), "axis");
  }
  infer_same(context);
}

void infer_topk(InferenceContext& context) {
  std::optional<Dims> dims = context.input(0).dims;
  if (dims) {
    const auto axis = static_cast<size_t>(context.axis("axis", context.rank(0)));
    const Dim length = (*dims)[axis];
    const auto k = context.data(1);
    context.require(!k || k->size() == 1, "input 'k' has {} elements, expected one", k ? k->size() : 0);
    const Dim count = k ? k->front() : Dim();
    context.require(!count.known() || count.value() >= 0, "input 'k' is {}", count.text());
    context.require(!count.known() || !length.known() || count.value() <= length.value(),
                    "input 'k' is {}, the axis has length {}", count.text(), length.text());
    (*dims)[axis] = count;
  }
  context.set_output(0, context.dtype(0), dims);
  context.set_output(1, DType::kInt64, std::move(dims));
}

OperatorDef along_axis(std::string name, InferRule infer, std::vector<AttributeDef> attributes) {
  return {.name = std::move(name),
          .since_version = 13,
          .min_inputs = 1,
          .max_inputs = 1,
          .attributes = std::move(attributes),
          .infer = infer};
}

/// One operation per element read.
double reduce_flops(const Graph& graph, const Node& node) { return value_elements(graph, node.input(0)); }

}  // namespace

void add_reduction_operators(std::vector<OperatorDef>& table) {
  for (const char* name : {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
                           "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"}) {
    const std::string_view op = name;
    const int since = op == "ReduceSum" ? 13 : op == "ReduceMax" || op == "ReduceMin" ? 20 : 18;
    table.push_back({.name = name,
                     .since_version = since,
                     .min_inputs = 1,
                     .max_inputs = 2,
                     .attributes = {int_attribute("keepdims", 1), int_attribute("noop_with_empty_axes", 0)},
                     .infer = infer_reduce,
                     .flops = reduce_flops});
  }
  for (const char* name : {"ArgMax", "ArgMin"}) {
    table.push_back(along_axis(
        name, infer_arg,
        {int_attribute("axis", 0), int_attribute("keepdims", 1), int_attribute("select_last_index", 0)}));
  }
  for (const char* name : {"Softmax", "LogSoftmax", "Hardmax"}) {
    table.push_back(along_axis(name, infer_softmax, {int_attribute("axis", -1)}));
    table.back().keeps_batch = keeps_batch_off_axis;
    table.back().traits.non_negative = std::string_view(name) != "LogSoftmax";
  }
  table.push_back({.name = "CumSum",
                   .since_version = 14,
                   .min_inputs = 2,
                   .max_inputs = 2,
                   .attributes = {int_attribute("exclusive", 0), int_attribute("reverse", 0)},
                   .infer = infer_cumsum});
  table.push_back(
      {.name = "TopK",
       .since_version = 11,
       .min_inputs = 2,
       .max_inputs = 2,
       .min_outputs = 2,
       .max_outputs = 2,
       .attributes = {int_attribute("axis", -1), int_attribute("largest", 1), int_attribute("sorted", 1)},
       .infer = infer_topk});
}

}  // namespace hone::graph
