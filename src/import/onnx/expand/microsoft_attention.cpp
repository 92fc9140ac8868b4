// Attention, MultiHeadAttention and QAttention of com.microsoft. Their padding masks add `mask_filter_value`
// to the scores, so that a row in which every key is padding keeps its plain softmax.
#include "import/onnx/expand/dot_product_attention.hpp"
#include "import/onnx/expand/products.hpp"
#include "import/onnx/expand/rules.hpp"

namespace hone::importer {
namespace {

using graph::DType;
using graph::kNoValue;
using graph::ValueId;

/// bool [batch, 1, 1, keys], computed from `bounds`: the end of each sample, possibly followed by the starts.
ValueId keys_in_range(Expansion& e, ValueId bounds, const Extent& batch, const Extent& keys) {
  const Extent length = e.extent(bounds, 0);
  const bool known = length.known() && batch.known();
  const bool ends_only = known && *length.number == *batch.number;
  if (known && !ends_only && *length.number != 2 * *batch.number) {
    fail_bad_input("the mask has {} numbers for {} samples, only 1 or 2 for each are supported",
                   *length.number, *batch.number);
  }
  const ValueId positions = e.positions(keys);
  const auto below = [&](ValueId ends) {
    return e.op("Less", {positions, e.op("Reshape", {ends, e.ints({-1, 1, 1, 1})})});
  };
  const ValueId wide = e.cast(bounds, DType::kInt64);
  if (ends_only) return below(wide);
  // If it is not known whether `bounds` has starts, zeros are appended in their place.
  const ValueId zeros = e.op("Expand", {e.ints({0}), e.list({batch})});
  const ValueId padded = known ? wide : e.concat({wide, zeros}, 0);
  const ValueId ends = e.slice(padded, 0, 0, batch);
  const ValueId starts = e.slice(padded, 0, batch, e.mul(batch, 2));
  return e.op("And", {below(ends), e.op("Not", {below(starts)})});
}

/// Returns the value to add to the scores for a mask in any of its forms.
ValueId padding_bias(Expansion& e, ValueId mask, const Extent& batch, const Extent& keys, DType dtype) {
  const float filter = e.real("mask_filter_value", -10000.0f);
  ValueId seen = kNoValue;
  const int64_t rank = e.rank(mask);
  if (rank == 1) {
    seen = keys_in_range(e, mask, batch, keys);
  } else if (rank == 2 || rank == 3) {
    const ValueId positive = e.op("Greater", {mask, e.number_like(0, mask)});
    seen = e.unsqueeze(positive, rank == 2 ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{1});
  } else {
    fail_bad_input("the mask has rank {}, only 1 to 3 are supported", rank);
  }
  return e.op("Where", {seen, e.number(0, dtype), e.number(filter, dtype)});
}

/// Applies the scale, the causal direction and the masks, which all three operators have. The keys already
/// include the cache.
AttentionValues masked_attention(Expansion& e, DotProductAttention spec, const Extent& past, ValueId mask,
                                 ValueId bias) {
  if (const float scale = e.real("scale", 0.0f); scale != 0.0f) spec.scale = scale;
  const Extent keys = e.extent(spec.key, 2);
  if (mask != kNoValue) {
    const Extent batch = e.extent(spec.query, 0);
    spec.biases.push_back(padding_bias(e, mask, batch, keys, e.dtype(spec.query)));
  }
  e.ignore("mask_filter_value");
  if (bias != kNoValue) spec.biases.push_back(bias);
  if (e.integer("unidirectional", 0) != 0) {
    spec.allowed = causal_mask(e, query_positions(e, e.extent(spec.query, 2), past), keys);
  }
  return expand_attention(e, spec);
}

/// Attention on the result of the packed product, with a cache of shape [2, batch, heads, past, depth].
void packed_attention(Expansion& e, ValueId product, ValueId mask, ValueId past_input, ValueId bias) {
  for (const char* option : {"do_rotary", "past_present_share_buffer"}) {
    if (e.integer(option, 0) != 0) fail_bad_input("attribute '{}' is 1, which is not supported", option);
  }
  e.ignore("rotary_embedding_dim");
  const int64_t heads = e.count("num_heads");
  const auto sizes = e.integers("qkv_hidden_sizes");
  if (!sizes.empty() && sizes.size() != 3)
    fail_bad_input("attribute 'qkv_hidden_sizes' has {} entries, expected 3", sizes.size());
  const auto parts = sizes.empty() ? e.split(product, 2, 3) : e.split(product, 2, sizes);
  DotProductAttention spec;
  spec.query = split_heads(e, parts[0], heads);
  spec.key = split_heads(e, parts[1], heads);
  spec.value = split_heads(e, parts[2], heads);
  Extent past = 0;
  if (past_input != kNoValue) {
    past = e.extent(past_input, 3);
    const auto cached = [&](int64_t which) {
      return e.op("Gather", {past_input, e.number(static_cast<double>(which), DType::kInt64)},
                  attributes({{"axis", int64_t{0}}}));
    };
    spec.key = e.concat({cached(0), spec.key}, 2);
    spec.value = e.concat({cached(1), spec.value}, 2);
  }
  e.give(0, join_heads(e, masked_attention(e, spec, past, mask, bias).result));
  if (e.wants(1) && !sizes.empty() && sizes[1] != sizes[2])
    fail_bad_input("output 1 (present) needs keys and values of one size, found {} and {}", sizes[1],
                   sizes[2]);
  if (e.wants(1)) e.give(1, e.concat({e.unsqueeze(spec.key, {0}), e.unsqueeze(spec.value, {0})}, 0));
}

void attention(Expansion& e) {
  ValueId product = e.op("MatMul", {e.in(0), e.in(1)});
  if (e.has_in(2)) product = e.op("Add", {product, e.in(2)});
  packed_attention(e, product, e.maybe_in(3), e.maybe_in(4), e.maybe_in(5));
}

void quantized_attention(Expansion& e) {
  IntegerProduct product;
  product.a = e.in(0);
  product.b = e.in(1);
  product.a_scale = e.in(3);
  product.b_scale = e.in(4);
  product.a_zero = e.maybe_in(6);
  product.b_zero = e.maybe_in(7);
  const ValueId result = e.op("Add", {float_product(e, product), e.in(2)});
  packed_attention(e, result, e.maybe_in(5), e.maybe_in(8), kNoValue);
}

/// Query, key and value, with or without separate heads; packed ones are [batch, sequence, heads, depth].
class Projections {
 public:
  Projections(Expansion& e, int64_t heads) : e_(e), heads_(heads) {}

  /// The part `index` of `x` in the form [batch, heads, sequence, depth], with its bias added.
  ValueId from(ValueId x, int64_t index, ValueId bias) {
    if (e_.rank(x) == 4) return x;  // a separate cache, which already includes the bias
    if (e_.rank(x) == 3) return split_heads(e_, bias == kNoValue ? x : e_.op("Add", {x, bias}), heads_);
    e_.require_rank(x, 5, "a packed input");
    ValueId part = e_.op("Gather", {x, e_.number(static_cast<double>(index), DType::kInt64)},
                         attributes({{"axis", int64_t{3}}}));
    if (bias != kNoValue) part = e_.op("Add", {part, e_.reshape(bias, {heads_, e_.extent(part, 3)})});
    return e_.transpose(part, {0, 2, 1, 3});
  }

  /// The parts of the bias for query, key and value. The first two have the width of the query.
  std::vector<ValueId> biases(ValueId bias, ValueId query) {
    if (bias == kNoValue) return {kNoValue, kNoValue, kNoValue};
    const Extent width = e_.rank(query) == 3 ? e_.extent(query, 2) : e_.mul(heads_, e_.extent(query, 4));
    const Extent twice = e_.mul(width, 2);
    return {e_.slice(bias, 0, 0, width), e_.slice(bias, 0, width, twice),
            e_.slice(bias, 0, twice, e_.extent(bias, 0))};
  }

 private:
  Expansion& e_;
  int64_t heads_;
};

void multi_head_attention(Expansion& e) {
  enum Input { kQuery, kKey, kValue, kBias, kMask, kAttentionBias, kPastKey, kPastValue };
  const int64_t heads = e.count("num_heads");
  const ValueId query = e.in(kQuery);
  Projections projections(e, heads);
  const auto bias = projections.biases(e.maybe_in(kBias), query);
  DotProductAttention spec;
  spec.query = projections.from(query, 0, bias[0]);
  if (e.rank(query) == 5) {
    spec.key = projections.from(query, 1, bias[1]);
    spec.value = projections.from(query, 2, bias[2]);
  } else {
    const ValueId key = e.in(kKey);
    const bool packed = e.rank(key) == 5;
    spec.key = projections.from(key, 0, bias[1]);
    spec.value = projections.from(packed ? key : e.in(kValue), 1, bias[2]);
  }
  Extent past = 0;
  if (e.has_in(kPastKey)) {
    past = e.extent(e.in(kPastKey), 2);
    spec.key = e.concat({e.in(kPastKey), spec.key}, 2);
    spec.value = e.concat({e.in(kPastValue), spec.value}, 2);
  }
  const auto values = masked_attention(e, spec, past, e.maybe_in(kMask), e.maybe_in(kAttentionBias));
  e.give(0, join_heads(e, values.result));
  e.give(1, spec.key);
  e.give(2, spec.value);
}

constexpr ExpansionRule kRules[] = {
    {kMicrosoft, "Attention", 0, attention},
    {kMicrosoft, "MultiHeadAttention", 0, multi_head_attention},
    {kMicrosoft, "QAttention", 0, quantized_attention},
};

}  // namespace

std::span<const ExpansionRule> microsoft_attention_expansions() { return kRules; }

}  // namespace hone::importer
