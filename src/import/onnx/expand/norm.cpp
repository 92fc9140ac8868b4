// RMS and layer normalizations, also with the additions that ONNX Runtime fuses into them.
#include "import/onnx/expand/rules.hpp"

namespace hone::importer {
namespace {

using graph::DType;
using graph::kNoValue;
using graph::ValueId;

int64_t checked_axis(const Expansion& e, ValueId x, int64_t axis) {
  const int64_t rank = e.rank(x);
  if (axis < -rank || axis >= rank) fail_bad_input("attribute 'axis' is {}, outside rank {}", axis, rank);
  return axis < 0 ? axis + rank : axis;
}

struct Normalized {
  ValueId values;   ///< in the type of the statistics
  ValueId inverse;  ///< 1 / √(mean of squares + epsilon)
};

/// Statistics of float16 and bfloat16 are float32.
Normalized rms_normalize(Expansion& e, ValueId x, int64_t axis, float epsilon) {
  const ValueId wide = tensor::is_half(e.dtype(x)) ? e.cast(x, DType::kFloat32) : x;
  std::vector<int64_t> axes;
  for (int64_t i = checked_axis(e, x, axis); i < e.rank(x); ++i) axes.push_back(i);
  const ValueId mean = e.op("ReduceMean", {e.op("Mul", {wide, wide}), e.ints(axes)});
  const ValueId deviation = e.op("Sqrt", {e.op("Add", {mean, e.number_like(epsilon, wide)})});
  const ValueId inverse = e.op("Reciprocal", {deviation});
  return {e.op("Mul", {wide, inverse}), inverse};
}

void require_float_statistics(Expansion& e) {
  const int64_t type = e.integer("stash_type", 1);
  if (type != 1) fail_bad_input("attribute 'stash_type' is {}, only 1 (float32) is supported", type);
}

void rms_normalization(Expansion& e) {
  require_float_statistics(e);
  const ValueId x = e.in(0);
  const ValueId scale = e.in(1);
  const auto normalized = rms_normalize(e, x, e.integer("axis", -1), e.real("epsilon", 1e-5f));
  e.give(0, e.op("Mul", {e.cast(normalized.values, e.dtype(scale)), scale}));
}

/// Like RMSNormalization, but the scale is applied before the result is rounded.
void simplified_layer_normalization(Expansion& e) {
  require_float_statistics(e);
  const ValueId x = e.in(0);
  const ValueId scale = e.in(1);
  const auto normalized = rms_normalize(e, x, e.integer("axis", -1), e.real("epsilon", 1e-5f));
  const ValueId wide_scale = e.cast(scale, e.dtype(normalized.values));
  e.give(0, e.cast(e.op("Mul", {normalized.values, wide_scale}), e.dtype(scale)));
  e.give(1, normalized.inverse);
}

/// x + skip (+ bias); skip may have a single sample for the whole batch.
ValueId with_skip(Expansion& e, size_t bias) {
  const ValueId sum = e.op("Add", {e.in(0), e.in(1)});
  return e.has_in(bias) ? e.op("Add", {sum, e.in(bias)}) : sum;
}

void skip_simplified_layer_normalization(Expansion& e) {
  const ValueId sum = with_skip(e, 3);
  const ValueId scale = e.in(2);
  const auto normalized = rms_normalize(e, sum, -1, e.real("epsilon", 1e-12f));
  const ValueId wide_scale = e.cast(scale, e.dtype(normalized.values));
  e.give(0, e.cast(e.op("Mul", {normalized.values, wide_scale}), e.dtype(sum)));
  if (e.wants(2)) e.give(2, normalized.inverse);
  e.give(3, sum);
}

ValueId layer_normalize(Expansion& e, ValueId x, ValueId scale, ValueId bias, float epsilon) {
  std::vector<ValueId> inputs = {x, scale};
  if (bias != kNoValue) inputs.push_back(bias);
  return e.op("LayerNormalization", inputs, attributes({{"axis", int64_t{-1}}, {"epsilon", epsilon}}));
}

void skip_layer_normalization(Expansion& e) {
  const ValueId sum = with_skip(e, 4);
  e.give(0, layer_normalize(e, sum, e.in(2), e.maybe_in(3), e.real("epsilon", 1e-12f)));
  e.give(3, sum);
}

ValueId rows_of(Expansion& e, ValueId table, ValueId ids) {
  return e.op("Gather", {table, ids}, attributes({{"axis", int64_t{0}}}));
}

/// The number of words in each sample, int32 [batch]; zeros without a mask.
ValueId mask_lengths(Expansion& e, ValueId ids, ValueId mask) {
  if (mask == kNoValue) {
    return e.op("Expand", {e.number(0, DType::kInt32), e.list({e.extent(ids, 0)})});
  }
  return e.op("ReduceSum", {mask, e.ints({1})}, attributes({{"keepdims", int64_t{0}}}));
}

void embed_layer_normalization(Expansion& e) {
  const ValueId ids = e.in(0);
  const ValueId segments = e.maybe_in(1);
  e.require_rank(ids, 2, "input 0");
  const Extent sequence = e.extent(ids, 1);
  const ValueId positions = e.has_in(8) ? e.in(8) : e.positions(sequence);
  ValueId sum = e.op("Add", {rows_of(e, e.in(2), ids), rows_of(e, e.in(3), positions)});
  if (segments != kNoValue) sum = e.op("Add", {sum, rows_of(e, e.in(4), segments)});
  e.maybe_in(4);
  e.give(0, layer_normalize(e, sum, e.in(5), e.in(6), e.real("epsilon", 1e-12f)));
  const ValueId mask = e.maybe_in(7);
  if (e.wants(1)) e.give(1, mask_lengths(e, ids, mask));
  e.ignore("mask_index_type");
  e.give(2, sum);
}

constexpr ExpansionRule kRules[] = {
    {"", "RMSNormalization", 23, rms_normalization},
    // ONNX Runtime writes this operator into the default domain, although no opset has it.
    {"", "SimplifiedLayerNormalization", 0, simplified_layer_normalization},
    {kMicrosoft, "SimplifiedLayerNormalization", 0, simplified_layer_normalization},
    {kMicrosoft, "SkipSimplifiedLayerNormalization", 0, skip_simplified_layer_normalization},
    {kMicrosoft, "SkipLayerNormalization", 0, skip_layer_normalization},
    {kMicrosoft, "EmbedLayerNormalization", 0, embed_layer_normalization},
};

}  // namespace

std::span<const ExpansionRule> norm_expansions() { return kRules; }

}  // namespace hone::importer
