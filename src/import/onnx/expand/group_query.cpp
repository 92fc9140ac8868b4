// GroupQueryAttention of com.microsoft: attention with a cache in which samples may have different lengths.
#include "import/onnx/expand/dot_product_attention.hpp"
#include "import/onnx/expand/rotary.hpp"
#include "import/onnx/expand/rules.hpp"

namespace hone::importer {
namespace {

using graph::DType;
using graph::kNoValue;
using graph::ValueId;

enum Input {
  kQuery,
  kKey,
  kValue,
  kPastKey,
  kPastValue,
  kLastPositions,
  kTotal,
  kCos,
  kSin,
  kPositions,
  kBias,
  kSink
};

struct Heads {
  ValueId query, key, value;  ///< [batch, heads, sequence, depth]
};

/// Reads query, key and value; the query input may contain all three.
Heads read_heads(Expansion& e, int64_t heads, int64_t key_heads) {
  const ValueId query = e.in(kQuery);
  if (e.has_in(kKey)) {
    return {split_heads(e, query, heads), split_heads(e, e.in(kKey), key_heads),
            split_heads(e, e.in(kValue), key_heads)};
  }
  const ValueId all = split_heads(e, query, heads + 2 * key_heads);
  const auto parts = e.split(all, 1, {heads, key_heads, key_heads});
  return {parts[0], parts[1], parts[2]};
}

/// Reshapes one number per sample to [batch, 1, 1, 1].
ValueId per_sample(Expansion& e, ValueId x) { return e.op("Reshape", {x, e.ints({-1, 1, 1, 1})}); }

/// The cache with the new rows of each sample written from `first` [batch, 1, 1, 1] on. It grows to `length`.
ValueId write_cache(Expansion& e, ValueId past, ValueId x, ValueId first, const Extent& length) {
  const Extent before = e.extent(past, 2);
  ValueId cache = past;
  if (!before.known() || before.number != length.number) {
    const ValueId pads = e.list({0, e.sub(length, before)});
    cache = e.op("Pad", {past, pads, e.number_like(0, past), e.ints({2})});
  }
  const Extent rows = e.extent(x, 2);
  const ValueId offsets = e.reshape(e.positions(rows), {1, 1, rows, 1});
  const ValueId shape = e.list({e.extent(x, 0), e.extent(x, 1), rows, e.extent(x, 3)});
  const ValueId indices = e.op("Expand", {e.op("Add", {first, offsets}), shape});
  return e.op("ScatterElements", {cache, indices, x}, attributes({{"axis", int64_t{2}}}));
}

/// Reads the total sequence length, a scalar, as an extent.
Extent read_total(Expansion& e) {
  const ValueId total = e.in(kTotal);
  const graph::Tensor* constant = e.graph.constant(total);
  if (constant != nullptr && constant->size() == 1) return constant->to_int64()[0];
  return Extent::of(e.op("Reshape", {e.cast(total, DType::kInt64), e.ints({1})}));
}

Extent longer(Expansion& e, const Extent& a, const Extent& b) {
  if (a.known() && b.known()) return std::max(*a.number, *b.number);
  return Extent::of(e.op("Max", {e.vector(a), e.vector(b)}));
}

/// Distinguishes a prompt, which has no past, from the tokens that follow it.
class Progress {
 public:
  /// `lengths` is int64 [batch]: the number of rows of each sample after this step.
  Progress(Expansion& e, ValueId lengths, const Extent& sequence, const Extent& total)
      : e_(e), lengths_(lengths), sequence_(sequence), total_(total) {}

  /// Rows that the cache holds before this step, [batch, 1, 1, 1].
  ValueId cached_rows() const {
    const ValueId before = e_.op("Sub", {lengths_, e_.vector(sequence_)});
    return per_sample(e_, if_prompt(e_.op("Mul", {lengths_, e_.ints({0})}), before));
  }

  /// The positions of the tokens. In a prompt of several tokens, all samples count from the first position of
  /// the first sample.
  ValueId positions(ValueId given) const {
    if (given == kNoValue) {
      const ValueId column = e_.op("Reshape", {cached_rows(), e_.ints({-1, 1})});
      return e_.op("Add", {column, e_.positions(sequence_)});
    }
    if (sequence_.is(1)) return given;
    const ValueId corner = e_.slice(e_.slice(given, 0, 0, 1), 1, 0, 1);
    const ValueId counted = e_.op("Add", {corner, e_.positions(sequence_)});
    const ValueId of_prompt = e_.op("Expand", {counted, e_.list({e_.extent(given, 0), e_.extent(given, 1)})});
    if (sequence_.known()) return if_prompt(of_prompt, given);
    const ValueId several = e_.op("Greater", {e_.vector(sequence_), e_.ints({1})});
    return e_.op("Where", {several, if_prompt(of_prompt, given), given});
  }

 private:
  ValueId if_prompt(ValueId yes, ValueId no) const {
    if (sequence_.known() && total_.known()) return *sequence_.number == *total_.number ? yes : no;
    return e_.op("Where", {e_.op("Equal", {e_.vector(sequence_), e_.vector(total_)}), yes, no});
  }

  Expansion& e_;
  ValueId lengths_;
  Extent sequence_, total_;
};

struct Rotation {
  ValueId cos, sin;  ///< [batch, 1, sequence, half the channels]
};

Rotation read_rotation(Expansion& e, const Progress& progress) {
  const ValueId positions = progress.positions(e.maybe_in(kPositions));
  const auto rows = [&](Input table) {
    return e.unsqueeze(e.op("Gather", {e.in(table), positions}, attributes({{"axis", int64_t{0}}})), {1});
  };
  return {rows(kCos), rows(kSin)};
}

void rotate_heads(Expansion& e, Heads& heads, const Progress& progress) {
  const bool interleaved = e.integer("rotary_interleaved", 0) != 0;
  if (e.integer("do_rotary", 0) == 0) {
    for (const Input input : {kCos, kSin, kPositions}) e.maybe_in(input);
    return;
  }
  const Rotation rotation = read_rotation(e, progress);
  const Extent channels = e.mul(e.extent(rotation.cos, -1), 2);
  heads.query = rotate_first(e, heads.query, channels, rotation.cos, rotation.sin, interleaved);
  heads.key = rotate_first(e, heads.key, channels, rotation.cos, rotation.sin, interleaved);
}

void refuse_options(Expansion& e) {
  for (const char* option : {"sliding_window_cache", "qk_output", "kv_cache_bit_width"}) {
    if (e.integer(option, 0) != 0) fail_bad_input("attribute '{}' is set, which is not supported", option);
  }
  for (const char* option : {"k_quant_type", "v_quant_type"}) {
    if (e.text(option, "NONE") != "NONE")
      fail_bad_input("attribute '{}' is set, which is not supported", option);
  }
  for (const char* name : {"qk_norm_epsilon", "q_norm_epsilon", "k_norm_epsilon"}) e.ignore(name);
}

/// The keys that each query sees: keys up to the end of its sample that causality and the window allow.
ValueId seen_keys(Expansion& e, ValueId first, ValueId lengths, const Extent& sequence, const Extent& keys) {
  const ValueId positions = e.op("Add", {query_positions(e, sequence, 0), first});
  ValueId seen = e.op("Less", {e.positions(keys), per_sample(e, lengths)});
  if (e.integer("causal", 1) != 0) seen = both_allowed(e, seen, causal_mask(e, positions, keys));
  if (const int64_t window = e.integer("local_window_size", -1); window > 0) {
    const ValueId before = e.op("Sub", {positions, e.ints({window})});
    seen = both_allowed(e, seen, e.op("Greater", {e.positions(keys), before}));
  }
  return seen;
}

void group_query_attention(Expansion& e) {
  refuse_options(e);
  const int64_t num_heads = e.count("num_heads");
  const int64_t key_heads = e.count("kv_num_heads");
  Heads heads = read_heads(e, num_heads, key_heads);
  const Extent sequence = e.extent(heads.query, 2);
  const Extent total = read_total(e);
  const ValueId lengths = e.op("Add", {e.cast(e.in(kLastPositions), DType::kInt64), e.ints({1})});
  const ValueId flat_lengths = e.op("Reshape", {lengths, e.ints({-1})});
  const bool cached = e.has_in(kPastKey);
  const Progress progress(e, flat_lengths, sequence, cached ? total : sequence);
  const ValueId first = progress.cached_rows();
  rotate_heads(e, heads, progress);

  DotProductAttention spec;
  spec.query = heads.query;
  spec.key = heads.key;
  spec.value = heads.value;
  Extent keys = sequence;
  if (cached) {
    const Extent length = longer(e, e.extent(e.in(kPastKey), 2), total);
    spec.key = write_cache(e, e.in(kPastKey), heads.key, first, length);
    spec.value = write_cache(e, e.in(kPastValue), heads.value, first, length);
    keys = total;
  }
  e.give(1, spec.key);
  e.give(2, spec.value);
  const Extent held = e.extent(spec.key, 2);
  if (cached && (!held.known() || held.number != keys.number)) {
    spec.key = e.slice(spec.key, 2, 0, keys);
    spec.value = e.slice(spec.value, 2, 0, keys);
  }
  if (const float scale = e.real("scale", 0.0f); scale != 0.0f) spec.scale = scale;
  spec.softcap = e.real("softcap", 0.0f);
  spec.allowed = seen_keys(e, first, flat_lengths, sequence, keys);
  if (e.has_in(kBias)) spec.biases = {e.in(kBias)};
  spec.sink = e.maybe_in(kSink);
  if (e.integer("smooth_softmax", -1) == 1 && spec.sink == kNoValue) {
    spec.sink = e.op("Expand", {e.number(0, DType::kFloat32), e.ints({num_heads})});
  }
  e.give(0, join_heads(e, expand_attention(e, spec).result));
}

constexpr ExpansionRule kRules[] = {{kMicrosoft, "GroupQueryAttention", 0, group_query_attention}};

}  // namespace

std::span<const ExpansionRule> group_query_expansions() { return kRules; }

}  // namespace hone::importer
