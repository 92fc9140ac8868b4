// Scaled dot-product attention in plain operators, as exporters write it. All attention operators of all
// domains are expanded to this form.
#pragma once

#include "import/onnx/expand/expansion.hpp"

namespace hone::importer {

/// softmax(mask(softcap(query · keyᵀ · scale) + biases)) · value.
struct DotProductAttention {
  graph::ValueId query = graph::kNoValue;    ///< [batch, heads, queries, depth]
  graph::ValueId key = graph::kNoValue;      ///< [batch, key heads, keys, depth]
  graph::ValueId value = graph::kNoValue;    ///< [batch, key heads, keys, depth of values]
  std::optional<float> scale;                ///< 1 / √depth if absent
  float softcap = 0;                         ///< none if 0
  std::vector<graph::ValueId> biases;        ///< added to the scores
  graph::ValueId allowed = graph::kNoValue;  ///< bool: the keys that a query sees
  /// [heads]: the score of an additional key without a value, which receives a share of the weights.
  graph::ValueId sink = graph::kNoValue;
  /// True if rows without any key give zeros; otherwise they give the result of the softmax.
  bool empty_rows_are_zero = false;
  graph::DType softmax_type = graph::DType::kUndefined;  ///< the type of the scores if undefined
};

/// The result and, for operators that return them, the scores at each stage.
struct AttentionValues {
  graph::ValueId result;  ///< [batch, heads, queries, depth of values]
  graph::ValueId scores, capped, masked, probabilities;
};

AttentionValues expand_attention(Expansion& e, const DotProductAttention& attention);

/// Converts [batch, sequence, heads · depth] to [batch, heads, sequence, depth].
graph::ValueId split_heads(Expansion& e, graph::ValueId x, int64_t heads);
/// Reverses split_heads().
graph::ValueId join_heads(Expansion& e, graph::ValueId x);
/// The conjunction of two masks, either of which may be absent.
graph::ValueId both_allowed(Expansion& e, graph::ValueId a, graph::ValueId b);
/// int64 [queries, 1]: the position of each query among the keys if `offset` keys come before the first
/// query.
graph::ValueId query_positions(Expansion& e, const Extent& queries, const Extent& offset);
/// bool: key position <= query position, for key positions of [keys].
graph::ValueId causal_mask(Expansion& e, graph::ValueId query_positions, const Extent& keys);

}  // namespace hone::importer
