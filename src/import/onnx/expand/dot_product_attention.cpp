// See dot_product_attention.hpp.
#include "import/onnx/expand/dot_product_attention.hpp"

#include <cmath>
#include <limits>

namespace hone::importer {

using graph::DType;
using graph::kNoValue;
using graph::ValueId;

namespace {

/// 1 / √depth; nodes of the graph compute it if the depth is not known.
ValueId default_scale(Expansion& e, ValueId query) {
  const DType dtype = e.dtype(query);
  const Extent depth = e.extent(query, 3);
  if (depth.known()) return e.number(1.0 / std::sqrt(static_cast<double>(*depth.number)), dtype);
  const ValueId root = e.op("Sqrt", {e.cast(e.vector(depth), DType::kFloat32)});
  return e.cast(e.op("Reciprocal", {root}), dtype);
}

/// Repeats each key head for the consecutive query heads that use it.
ValueId repeat_heads(Expansion& e, ValueId x, const Extent& heads) {
  const Extent own = e.extent(x, 1);
  if (own.known() && own.number == heads.number) return x;
  if (own.known() && heads.known() && (*own.number == 0 || *heads.number % *own.number != 0)) {
    fail_bad_input("{} query heads are no multiple of {} key and value heads", *heads.number, *own.number);
  }
  const ValueId repeats = e.list({1, 1, e.div(heads, own), 1, 1});
  const ValueId wide = e.op("Expand", {e.unsqueeze(x, {2}), repeats});
  return e.reshape(wide, {e.extent(x, 0), heads, e.extent(x, 2), e.extent(x, 3)});
}

ValueId softmax(Expansion& e, ValueId scores, ValueId sink) {
  const auto last_axis = attributes({{"axis", int64_t{-1}}});
  if (sink == kNoValue) return e.op("Softmax", {scores}, last_axis);
  const ValueId column = e.reshape(e.cast(sink, e.dtype(scores)), {1, e.extent(sink, 0), 1, 1});
  const ValueId shape = e.list({e.extent(scores, 0), e.extent(scores, 1), e.extent(scores, 2), 1});
  const ValueId all = e.op("Softmax", {e.concat({scores, e.op("Expand", {column, shape})}, -1)}, last_axis);
  return e.slice(all, -1, 0, e.extent(scores, -1));
}

}  // namespace

AttentionValues expand_attention(Expansion& e, const DotProductAttention& attention) {
  const ValueId query = attention.query;
  const DType dtype = e.dtype(query);
  const Extent heads = e.extent(query, 1);
  const ValueId key = repeat_heads(e, attention.key, heads);
  const ValueId value = repeat_heads(e, attention.value, heads);

  AttentionValues values{};
  const ValueId product = e.op("MatMul", {query, e.transpose(key, {0, 1, 3, 2})});
  const ValueId scale = attention.scale ? e.number(*attention.scale, dtype) : default_scale(e, query);
  values.scores = e.op("Mul", {product, scale});
  values.capped = values.scores;
  if (attention.softcap > 0) {
    const ValueId cap = e.number(attention.softcap, dtype);
    values.capped = e.op("Mul", {e.op("Tanh", {e.op("Div", {values.scores, cap})}), cap});
  }
  values.masked = values.capped;
  for (const ValueId bias : attention.biases) values.masked = e.op("Add", {values.masked, bias});
  if (attention.allowed != kNoValue) {
    const ValueId unseen = e.number(-std::numeric_limits<double>::infinity(), dtype);
    values.masked = e.op("Where", {attention.allowed, values.masked, unseen});
  }
  const DType softmax_type = attention.softmax_type == DType::kUndefined ? dtype : attention.softmax_type;
  ValueId weights = softmax(e, e.cast(values.masked, softmax_type), attention.sink);
  if (attention.empty_rows_are_zero) {
    weights = e.op("Where", {e.op("IsNaN", {weights}), e.number(0, softmax_type), weights});
  }
  values.probabilities = e.cast(weights, dtype);
  values.result = e.op("MatMul", {values.probabilities, value});
  return values;
}

ValueId split_heads(Expansion& e, ValueId x, int64_t heads) {
  const Extent width = e.extent(x, 2);
  if (width.known() && *width.number % heads != 0)
    fail_bad_input("{} columns are no multiple of {} heads", *width.number, heads);
  const Extent depth = e.div(width, heads);
  return e.transpose(e.reshape(x, {e.extent(x, 0), e.extent(x, 1), heads, depth}), {0, 2, 1, 3});
}

ValueId join_heads(Expansion& e, ValueId x) {
  const Extent width = e.mul(e.extent(x, 1), e.extent(x, 3));
  const ValueId rows = e.transpose(x, {0, 2, 1, 3});
  return e.reshape(rows, {e.extent(x, 0), e.extent(x, 2), width});
}

ValueId both_allowed(Expansion& e, ValueId a, ValueId b) {
  if (a == kNoValue) return b;
  return b == kNoValue ? a : e.op("And", {a, b});
}

ValueId query_positions(Expansion& e, const Extent& queries, const Extent& offset) {
  const ValueId column = e.reshape(e.positions(queries), {queries, 1});
  return offset.is(0) ? column : e.op("Add", {column, e.vector(offset)});
}

ValueId causal_mask(Expansion& e, ValueId query_positions, const Extent& keys) {
  return e.op("LessOrEqual", {e.positions(keys), query_positions});
}

}  // namespace hone::importer
