// Scaled dot-product attention in plain operators, as exporters write it: what every attention operator of
// every domain comes down to.
#pragma once

#include "import/onnx/expand/expansion.hpp"

namespace hone::importer {

/// softmax(mask(softcap(query · keyᵀ · scale) + biases)) · value.
struct DotProductAttention {
  graph::ValueId query = graph::kNoValue;    ///< [batch, heads, queries, depth]
  graph::ValueId key = graph::kNoValue;      ///< [batch, key heads, keys, depth]
  graph::ValueId value = graph::kNoValue;    ///< [batch, key heads, keys, depth of values]
  std::optional<float> scale;                ///< 1 / √depth when absent
  float softcap = 0;                         ///< none when 0
  std::vector<graph::ValueId> biases;        ///< added to the scores
  graph::ValueId allowed = graph::kNoValue;  ///< bool: the keys that a query sees
  /// [heads]: the score of a key of no value, which takes its share of the weights.
  graph::ValueId sink = graph::kNoValue;
  /// Rows without any key give zeros. Otherwise they give the result of the softmax.
  bool empty_rows_are_zero = false;
  graph::DType softmax_type = graph::DType::kUndefined;  ///< that of the scores when undefined
};

/// The result and, for those who ask for them, the scores at each stage.
struct AttentionValues {
  graph::ValueId result;  ///< [batch, heads, queries, depth of values]
  graph::ValueId scores, capped, masked, probabilities;
};

AttentionValues expand_attention(Expansion& e, const DotProductAttention& attention);

/// [batch, sequence, heads · depth] as [batch, heads, sequence, depth].
graph::ValueId split_heads(Expansion& e, graph::ValueId x, int64_t heads);
/// The opposite.
graph::ValueId join_heads(Expansion& e, graph::ValueId x);
/// Both masks together; either may be absent.
graph::ValueId both_allowed(Expansion& e, graph::ValueId a, graph::ValueId b);
/// int64 [queries, 1]: where each query stands among the keys when `offset` keys come before the first.
graph::ValueId query_positions(Expansion& e, const Extent& queries, const Extent& offset);
/// bool: key position <= query position, for key positions of [keys].
graph::ValueId causal_mask(Expansion& e, graph::ValueId query_positions, const Extent& keys);

}  // namespace hone::importer
