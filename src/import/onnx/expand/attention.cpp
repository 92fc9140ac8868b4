// Attention of the ONNX standard, opset 23 to 25, with the semantics that onnx 1.23 defines: causal masks end
// at the last key of a cache, each key head is repeated before the next one, the softcap comes before the
// mask, and a row without visible keys gives zeros.
#include <limits>

#include "import/onnx/expand/dot_product_attention.hpp"
#include "import/onnx/expand/rules.hpp"

namespace hone::importer {
namespace {

using graph::DType;
using graph::kNoValue;
using graph::ValueId;

enum Input { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kValidKeys };
enum Output { kResult, kPresentKey, kPresentValue, kScores };

/// Converts either form of an operand to [batch, heads, sequence, depth].
ValueId with_heads(Expansion& e, ValueId x, const char* heads) {
  if (e.rank(x) != 3) return x;
  return split_heads(e, x, e.count(heads));
}

/// Extends the mask to all keys; keys beyond the original mask are hidden.
ValueId full_mask(Expansion& e, ValueId mask, const Extent& keys) {
  if (e.is_dimension(keys, mask, static_cast<size_t>(e.rank(mask) - 1))) return mask;
  const Extent width = e.extent(mask, -1);
  if (width.known() && keys.known() && *width.number > *keys.number)
    fail_bad_input("input 3 (attn_mask) is {} wide, there are {} keys", *width.number, *keys.number);
  const DType dtype = e.dtype(mask);
  const ValueId fill =
      dtype == DType::kBool ? e.number(0, dtype) : e.number(-std::numeric_limits<double>::infinity(), dtype);
  return e.op("Pad", {mask, e.list({0, e.sub(keys, width)}), fill, e.ints({-1})});
}

/// The position of each query among the keys, int64 [queries, 1], or [batch, 1, queries, 1] if the number of
/// keys differs between samples.
ValueId positions_of_queries(Expansion& e, const Extent& queries, const Extent& past, ValueId valid_keys) {
  if (valid_keys == kNoValue) return query_positions(e, queries, past);
  const ValueId offsets = e.op("Sub", {e.cast(valid_keys, DType::kInt64), e.vector(queries)});
  const ValueId column = e.op("Reshape", {offsets, e.ints({-1, 1, 1, 1})});
  return e.op("Add", {query_positions(e, queries, 0), column});
}

/// The keys inside the window of each query; kNoValue if the window is unlimited.
ValueId window_mask(Expansion& e, ValueId positions, const Extent& keys, int64_t left, int64_t right) {
  ValueId allowed = kNoValue;
  if (left >= 0) {
    const ValueId first = e.op("Sub", {positions, e.ints({left})});
    allowed = e.op("GreaterOrEqual", {e.positions(keys), first});
  }
  if (right >= 0) {
    const ValueId last = e.op("Add", {positions, e.ints({right})});
    allowed = both_allowed(e, allowed, e.op("LessOrEqual", {e.positions(keys), last}));
  }
  return allowed;
}

int64_t window(Expansion& e, const char* name) {
  const int64_t size = e.integer(name, -1);
  if (size < -1) fail_bad_input("attribute '{}' is {}, expected -1 or more", name, size);
  return size;
}

DType softmax_type(Expansion& e) {
  const auto type = static_cast<DType>(e.integer("softmax_precision", 0));
  if (type != DType::kUndefined && !tensor::is_floating(type))
    fail_bad_input("attribute 'softmax_precision' is {}, which is no floating-point type",
                   static_cast<int64_t>(type));
  return type;
}

void give_scores(Expansion& e, const AttentionValues& values) {
  switch (const int64_t mode = e.integer("qk_matmul_output_mode", 0)) {
    case 0: return e.give(kScores, values.scores);
    case 1: return e.give(kScores, values.capped);
    case 2: return e.give(kScores, values.masked);
    case 3: return e.give(kScores, values.probabilities);
    default: fail_bad_input("attribute 'qk_matmul_output_mode' is {}, expected 0 to 3", mode);
  }
}

/// The cache followed by the new tokens.
ValueId append(Expansion& e, Input past, ValueId x) {
  return e.has_in(past) ? e.concat({e.in(past), x}, 2) : x;
}

void attention(Expansion& e) {
  const ValueId query = e.in(kQuery);
  const int64_t rank = e.rank(query);
  if (rank != 3 && rank != 4) fail_bad_input("input 0 has rank {}, expected 3 or 4", rank);
  DotProductAttention spec;
  spec.query = with_heads(e, query, "q_num_heads");
  if (e.has_in(kPastKey) != e.has_in(kPastValue)) fail_bad_input("inputs 4 and 5 only come together");
  const ValueId new_key = with_heads(e, e.in(kKey), "kv_num_heads");
  const Extent past = e.has_in(kPastKey) ? e.extent(e.in(kPastKey), 2) : Extent(0);
  spec.key = append(e, kPastKey, new_key);
  spec.value = append(e, kPastValue, with_heads(e, e.in(kValue), "kv_num_heads"));
  e.ignore("q_num_heads");
  e.ignore("kv_num_heads");
  if (e.has_attribute("scale")) spec.scale = e.real("scale", 0);
  spec.softcap = e.real("softcap", 0);
  spec.softmax_type = softmax_type(e);

  const Extent queries = e.extent(spec.query, 2);
  const Extent keys = e.extent(spec.key, 2);
  const ValueId valid_keys = e.maybe_in(kValidKeys);
  if (valid_keys != kNoValue && e.has_in(kPastKey))
    fail_bad_input("nonpad_kv_seqlen and past_key exclude each other");
  const bool causal = e.integer("is_causal", 0) != 0;
  const int64_t left = window(e, "left_window_size");
  const int64_t right = window(e, "right_window_size");
  if (causal || left >= 0 || right >= 0) {
    const ValueId positions = positions_of_queries(e, queries, past, valid_keys);
    if (causal) spec.allowed = causal_mask(e, positions, keys);
    spec.allowed = both_allowed(e, spec.allowed, window_mask(e, positions, keys, left, right));
  }
  if (valid_keys != kNoValue) {
    const ValueId counts = e.op("Reshape", {e.cast(valid_keys, DType::kInt64), e.ints({-1, 1, 1, 1})});
    spec.allowed = both_allowed(e, spec.allowed, e.op("Less", {e.positions(keys), counts}));
  }
  if (e.has_in(kMask)) {
    const ValueId mask = full_mask(e, e.in(kMask), keys);
    if (e.dtype(mask) == DType::kBool) {
      spec.allowed = both_allowed(e, spec.allowed, mask);
    } else {
      spec.biases = {e.cast(mask, e.dtype(spec.query))};
    }
  }
  // Without any of these, each query sees at least the first key.
  spec.empty_rows_are_zero = e.has_in(kMask) || valid_keys != kNoValue || left >= 0 || right >= 0;
  const AttentionValues values = expand_attention(e, spec);
  e.give(kResult, rank == 3 ? join_heads(e, values.result) : values.result);
  e.give(kPresentKey, spec.key);
  e.give(kPresentValue, spec.value);
  give_scores(e, values);
}

constexpr ExpansionRule kRules[] = {{"", "Attention", 23, attention}};

}  // namespace

std::span<const ExpansionRule> attention_expansions() { return kRules; }

}  // namespace hone::importer
