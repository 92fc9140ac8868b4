// Operator table entries of the convolution family: pools over windows and over whole planes.
#include <algorithm>

#include "graph/convolution_geometry.hpp"
#include "graph/operators/attribute_defs.hpp"
#include "graph/operators/batch_rules.hpp"
#include "graph/operators/convolution_rules.hpp"
#include "graph/operators/type_rules.hpp"

namespace hone::graph {
namespace {

constexpr int64_t kMaxRank = 16;

/// The window of a pool whose input is ranked, with one kernel size per spatial axis.
Window pool_window(const InferenceContext& context) {
  const auto& kernel = context.attributes().get_ints("kernel_shape");
  const auto rank = static_cast<size_t>(context.rank(0)) - 2;
  context.require(kernel.size() == rank, "attribute 'kernel_shape' has {} entries, expected {}",
                  kernel.size(), rank);
  return read_window(context.attributes(), kernel);
}

std::optional<Dims> pool_output(const InferenceContext& context) {
  context.require_rank(0, 3, kMaxRank);
  if (!context.ranked(0)) return std::nullopt;
  const Window window = pool_window(context);
  Dims dims = context.dims(0);
  for (size_t i = 0; i < window.rank(); ++i) dims[i + 2] = window_output(window, i, dims[i + 2]);
  return dims;
}

void infer_max_pool(InferenceContext& context) {
  const DType dtype = context.dtype(0);
  if (dtype != DType::kInt8 && dtype != DType::kUInt8) require_floating(context, 0);
  const int64_t order = context.attributes().get_int("storage_order");
  context.require(order == 0 || order == 1, "attribute 'storage_order' is {}, expected 0 or 1", order);
  const auto dims = pool_output(context);
  context.set_output(0, dtype, dims);
  context.set_output(1, DType::kInt64, dims);
}

void infer_float_pool(InferenceContext& context) {
  require_floating(context, 0);
  context.set_output(0, context.dtype(0), pool_output(context));
}

void require_norm(const InferenceContext& context) {
  const int64_t p = context.attributes().get_int("p");
  context.require(p >= 1, "attribute 'p' is {}, expected at least 1", p);
}

void infer_lp_pool(InferenceContext& context) {
  require_norm(context);
  infer_float_pool(context);
}

void infer_global_average_pool(InferenceContext& context) {
  require_floating(context, 0);
  context.require_rank(0, 3, kMaxRank);
  if (!context.ranked(0)) return context.set_output(0, context.dtype(0), std::nullopt);
  Dims dims = context.dims(0);
  std::fill(dims.begin() + 2, dims.end(), Dim(1));
  context.set_output(0, context.dtype(0), std::move(dims));
}

/// The average of an empty plane is NaN, as for ReduceMean, but it has no maximum.
void infer_global_pool(InferenceContext& context) {
  infer_global_average_pool(context);
  if (!context.ranked(0)) return;
  const Dims& dims = context.dims(0);
  for (size_t i = 2; i < dims.size(); ++i)
    context.require(!dims[i].is(0), "input 0 has no elements along axis {}", i);
}

void infer_global_lp_pool(InferenceContext& context) {
  require_norm(context);
  infer_global_pool(context);
}

/// Without an output_shape, the size follows from inverting the pool's size formula.
void infer_max_unpool(InferenceContext& context) {
  require_floating(context, 0);
  require_dtype(context, 1, {DType::kInt64});
  require_dtype(context, 2, {DType::kInt64});
  context.require_rank(0, 3, kMaxRank);
  if (!context.ranked(0)) return context.set_output(0, context.dtype(0), std::nullopt);
  const Window window = pool_window(context);
  Dims dims = context.dims(0);
  if (!context.has_input(2)) {
    for (size_t i = 0; i < window.rank(); ++i) {
      dims[i + 2] = transposed_output(window, context.attributes(), i, dims[i + 2]);
    }
    return context.set_output(0, context.dtype(0), std::move(dims));
  }
  const auto wanted = context.data(2);
  if (!wanted) return context.set_output(0, context.dtype(0), Dims(dims.size()));
  context.require(wanted->size() == dims.size(), "input 2 has {} elements, expected {}", wanted->size(),
                  dims.size());
  for (const Dim& dim : *wanted) {
    context.require(!dim.known() || dim.value() >= 0, "input 2 holds the size {}", dim.text());
  }
  context.set_output(0, context.dtype(0), wanted);
}

/// One operation per element of every window.
double pool_flops(const Graph& graph, const Node& node) {
  double window = 1;
  for (const int64_t size : node.attributes.get_ints("kernel_shape")) window *= static_cast<double>(size);
  return value_elements(graph, node.outputs[0]) * window;
}

double global_pool_flops(const Graph& graph, const Node& node) {
  return value_elements(graph, node.inputs[0]);
}

std::vector<AttributeDef> pool_attributes(std::vector<AttributeDef> extra) {
  std::vector<AttributeDef> list{string_attribute("auto_pad", "NOTSET"),
                                 int_attribute("ceil_mode", 0),
                                 optional_attribute("dilations", AttributeKind::kInts),
                                 required_attribute("kernel_shape", AttributeKind::kInts),
                                 optional_attribute("pads", AttributeKind::kInts),
                                 optional_attribute("strides", AttributeKind::kInts)};
  list.insert(list.end(), extra.begin(), extra.end());
  return list;
}

/// Indices count from the beginning of the whole batch.
bool max_pool_keeps_batch(const Graph&, const Node& node, int64_t) { return !node.has_output(1); }

OperatorDef pool(std::string name, std::vector<AttributeDef> extra, void (*infer)(InferenceContext&),
                 bool (*keeps_batch)(const Graph&, const Node&, int64_t), int outputs = 1) {
  return {.name = std::move(name),
          .since_version = 22,
          .min_inputs = 1,
          .max_inputs = 1,
          .max_outputs = outputs,
          .attributes = pool_attributes(std::move(extra)),
          .infer = infer,
          .flops = pool_flops,
          .keeps_batch = keeps_batch};
}

OperatorDef global_pool(std::string name, std::vector<AttributeDef> attributes,
                        void (*infer)(InferenceContext&), const Traits& traits = {}) {
  return {.name = std::move(name),
          .since_version = 22,
          .min_inputs = 1,
          .max_inputs = 1,
          .attributes = std::move(attributes),
          .infer = infer,
          .flops = global_pool_flops,
          .traits = traits,
          .keeps_batch = keeps_batch_always};
}

}  // namespace

void add_pooling_operators(std::vector<OperatorDef>& table) {
  table.push_back(
      pool("MaxPool", {int_attribute("storage_order", 0)}, infer_max_pool, max_pool_keeps_batch, 2));
  table.back().traits = {.keeps_range = true, .scales_with_input = true};
  table.push_back(
      pool("AveragePool", {int_attribute("count_include_pad", 0)}, infer_float_pool, keeps_batch_always));
  table.back().traits.scales_with_input = true;
  table.push_back(pool("LpPool", {int_attribute("p", 2)}, infer_lp_pool, keeps_batch_always));
  table.back().traits.scales_with_input = true;
  table.push_back(global_pool("GlobalAveragePool", {}, infer_global_average_pool,
                              {.keeps_range = true, .scales_with_input = true}));
  table.push_back(
      global_pool("GlobalMaxPool", {}, infer_global_pool, {.keeps_range = true, .scales_with_input = true}));
  table.push_back(global_pool("GlobalLpPool", {int_attribute("p", 2)}, infer_global_lp_pool,
                              {.scales_with_input = true}));
  table.push_back({.name = "MaxUnpool",
                   .since_version = 22,
                   .min_inputs = 2,
                   .max_inputs = 3,
                   .attributes = {required_attribute("kernel_shape", AttributeKind::kInts),
                                  optional_attribute("pads", AttributeKind::kInts),
                                  optional_attribute("strides", AttributeKind::kInts)},
                   .infer = infer_max_unpool});
}

}  // namespace hone::graph
