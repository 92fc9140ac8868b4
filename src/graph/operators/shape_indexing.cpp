// Operator table entries that select or replace elements by index.
#include <algorithm>

#include "graph/operators/rules.hpp"
#include "graph/operators/shape_parts.hpp"

namespace hone::graph {
namespace {

using Kind = AttributeKind;

/// Elements of followed shape data at known positions.
void gather_data(InferenceContext& context) {
  const auto data = context.data(0);
  const auto indices = context.known_data(1);
  if (!data || !indices || context.rank(0) != 1 || context.rank(1) > 1) return;
  Dims picked;
  for (const int64_t index : *indices) {
    picked.push_back((*data)[static_cast<size_t>(
        checked_axis(context, index, static_cast<int64_t>(data->size()), "index"))]);
  }
  context.set_output_data(0, std::move(picked));
}

void infer_gather(InferenceContext& context) {
  require_index_type(context, 1);
  context.set_output(0, context.dtype(0), std::nullopt);
  if (!context.ranked(0)) return;
  context.require_rank(0, 1, INT64_MAX);
  const auto axis = context.axis("axis", context.rank(0));
  if (!context.ranked(1)) return;
  const Dims& data = context.dims(0);
  Dims result(data.begin(), data.begin() + axis);
  result.insert(result.end(), context.dims(1).begin(), context.dims(1).end());
  result.insert(result.end(), data.begin() + axis + 1, data.end());
  context.set_output(0, context.dtype(0), std::move(result));
  gather_data(context);
}

void require_same_rank(const InferenceContext& context, size_t a, size_t b) {
  if (!context.ranked(a) || !context.ranked(b)) return;
  context.require(context.rank(a) == context.rank(b), "inputs {} and {} have ranks {} and {}", a, b,
                  context.rank(a), context.rank(b));
}

/// Requires that dimension i of input a equals dimension j of input b, if both are known.
void require_same_dim(const InferenceContext& context, size_t a, int64_t i, size_t b, int64_t j) {
  const Dim& one = context.dims(a)[static_cast<size_t>(i)];
  const Dim& other = context.dims(b)[static_cast<size_t>(j)];
  context.require(!one.known() || !other.known() || one.value() == other.value(),
                  "inputs {} and {} have shapes {} and {}", a, b, dims_text(context.dims(a)),
                  dims_text(context.dims(b)));
}

/// Requires that the indices (input 1) are not larger than the data (input 0) in dimensions other than the
/// axis.
void require_fitting_indices(const InferenceContext& context) {
  context.require_rank(0, 1, INT64_MAX);
  require_same_rank(context, 0, 1);
  if (!context.ranked(0)) return;
  const int64_t axis = context.axis("axis", context.rank(0));
  if (!context.ranked(1)) return;
  for (int64_t i = 0; i < context.rank(0); ++i) {
    const Dim& data = context.dims(0)[static_cast<size_t>(i)];
    const Dim& indices = context.dims(1)[static_cast<size_t>(i)];
    context.require(i == axis || !data.known() || !indices.known() || indices.value() <= data.value(),
                    "indices of shape {} for data of shape {} along axis {}", dims_text(context.dims(1)),
                    dims_text(context.dims(0)), axis);
  }
}

void infer_gather_elements(InferenceContext& context) {
  require_index_type(context, 1);
  require_fitting_indices(context);
  context.set_output(0, context.dtype(0), context.input(1).dims);
}

/// Length of the index tuples of GatherND and ScatterND, checked against the data's rank.
std::optional<int64_t> tuple_length(const InferenceContext& context, int64_t batch_dims) {
  context.require_rank(0, 1, INT64_MAX);
  context.require_rank(1, 1, INT64_MAX);
  if (!context.ranked(0) || !context.ranked(1)) return std::nullopt;
  const int64_t shorter = std::min(context.rank(0), context.rank(1));
  context.require(batch_dims >= 0 && batch_dims < shorter, "attribute 'batch_dims' is {}, outside rank {}",
                  batch_dims, shorter);
  const Dim& last = context.dims(1).back();
  if (!last.known()) return std::nullopt;
  context.require(last.value() >= 1 && last.value() <= context.rank(0) - batch_dims,
                  "indices hold tuples of {} numbers for data of rank {}", last.value(),
                  context.rank(0) - batch_dims);
  return last.value();
}

void infer_gather_nd(InferenceContext& context) {
  const int64_t batch_dims = context.attributes().get_int("batch_dims");
  const auto length = tuple_length(context, batch_dims);
  context.set_output(0, context.dtype(0), std::nullopt);
  if (!length) return;
  for (int64_t i = 0; i < batch_dims; ++i) require_same_dim(context, 0, i, 1, i);
  Dims result(context.dims(1).begin(), context.dims(1).end() - 1);
  const Dims& data = context.dims(0);
  result.insert(result.end(), data.begin() + batch_dims + *length, data.end());
  context.set_output(0, context.dtype(0), std::move(result));
}

void infer_scatter(InferenceContext& context) {
  require_choice(context, "reduction", {"none", "add", "mul", "min", "max"});
  require_index_type(context, 1);
  require_same_dtype(context, 0, 2);
  infer_same(context);
}

void infer_scatter_elements(InferenceContext& context) {
  infer_scatter(context);
  require_fitting_indices(context);
  require_same_rank(context, 1, 2);
  if (!context.ranked(1) || !context.ranked(2)) return;
  for (int64_t i = 0; i < context.rank(1); ++i) require_same_dim(context, 1, i, 2, i);
}

void infer_scatter_nd(InferenceContext& context) {
  infer_scatter(context);
  const auto length = tuple_length(context, 0);
  if (!length || !context.ranked(2)) return;
  const int64_t tuples = context.rank(1) - 1;
  const int64_t rank = tuples + context.rank(0) - *length;
  context.require(context.rank(2) == rank, "updates have rank {}, expected {}", context.rank(2), rank);
  for (int64_t i = 0; i < rank; ++i) {
    if (i < tuples) {
      require_same_dim(context, 2, i, 1, i);
    } else {
      require_same_dim(context, 2, i, 0, *length + i - tuples);
    }
  }
}

void infer_compress(InferenceContext& context) {
  require_bool(context, 1);
  context.require_rank(1, 1, 1);
  context.set_output(0, context.dtype(0), std::nullopt);
  if (!context.attributes().has("axis")) {
    context.set_output(0, context.dtype(0), unknown_dims(1));
    return;
  }
  if (!context.ranked(0)) return;
  Dims result = context.dims(0);
  result[static_cast<size_t>(context.axis("axis", context.rank(0)))] = Dim();
  context.set_output(0, context.dtype(0), std::move(result));
}

void infer_unique(InferenceContext& context) {
  std::optional<Dims> dims = unknown_dims(1);
  if (context.attributes().has("axis")) {
    dims = context.input(0).dims;
    if (dims) (*dims)[static_cast<size_t>(context.axis("axis", context.rank(0)))] = Dim();
  }
  context.set_output(0, context.dtype(0), std::move(dims));
  for (size_t i = 1; i < 4; ++i) context.set_output(i, DType::kInt64, unknown_dims(1));
}

void infer_nonzero(InferenceContext& context) {
  const Dim rank = context.ranked(0) ? Dim(context.rank(0)) : Dim();
  context.set_output(0, DType::kInt64, Dims{rank, Dim()});
}

void infer_one_hot(InferenceContext& context) {
  context.require_rank(1, 0, 1);
  context.require_rank(2, 1, 1);
  context.set_output(0, context.dtype(2), std::nullopt);
  if (!context.ranked(0)) return;
  Dims result = context.dims(0);
  const auto axis = context.axis("axis", context.rank(0) + 1);
  const auto depth = context.data(1);
  const Dim length = depth && depth->size() == 1 ? depth->front() : Dim();
  context.require(!length.known() || length.value() >= 0, "input 'depth' is {}", length.text());
  result.insert(result.begin() + axis, length);
  context.set_output(0, context.dtype(2), std::move(result));
}

void infer_reverse_sequence(InferenceContext& context) {
  const int64_t batch = context.attributes().get_int("batch_axis");
  const int64_t time = context.attributes().get_int("time_axis");
  context.require((batch == 0 && time == 1) || (batch == 1 && time == 0),
                  "attributes 'batch_axis' and 'time_axis' are {} and {}, expected 0 and 1 in any order",
                  batch, time);
  require_index_type(context, 1);
  context.require_rank(0, 2, INT64_MAX);
  context.require_rank(1, 1, 1);
  infer_same(context);
}

}  // namespace

void add_indexing_operators(std::vector<OperatorDef>& table) {
  const auto add = [&](const char* name, int since, int inputs, InferRule infer,
                       std::vector<AttributeDef> attributes = {}) {
    table.push_back({.name = name,
                     .since_version = since,
                     .min_inputs = inputs,
                     .max_inputs = inputs,
                     .attributes = std::move(attributes),
                     .infer = infer});
  };
  add("Gather", 13, 2, infer_gather, {int_attribute("axis", 0)});
  table.back().traits = {.moves_only = true, .indexes_axis = true};
  add("GatherElements", 13, 2, infer_gather_elements, {int_attribute("axis", 0)});
  table.back().traits.indexes_axis = true;
  add("GatherND", 13, 2, infer_gather_nd, {int_attribute("batch_dims", 0)});
  add("ScatterElements", 18, 3, infer_scatter_elements,
      {int_attribute("axis", 0), string_attribute("reduction", "none")});
  table.back().traits.indexes_axis = true;
  add("ScatterND", 18, 3, infer_scatter_nd, {string_attribute("reduction", "none")});
  add("Compress", 11, 2, infer_compress, {optional_attribute("axis", Kind::kInt)});
  add("NonZero", 13, 1, infer_nonzero);
  add("OneHot", 11, 3, infer_one_hot, {int_attribute("axis", -1)});
  add("ReverseSequence", 10, 2, infer_reverse_sequence,
      {int_attribute("batch_axis", 1), int_attribute("time_axis", 0)});
  table.push_back({.name = "Unique",
                   .since_version = 11,
                   .min_inputs = 1,
                   .max_inputs = 1,
                   .max_outputs = 4,
                   .attributes = {optional_attribute("axis", Kind::kInt), int_attribute("sorted", 1)},
                   .infer = infer_unique});
}

}  // namespace hone::graph
