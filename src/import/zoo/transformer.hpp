// Layers of transformers in the form of PyTorch's exporters: projections along the last axis, normalization,
// attention with several heads.
#pragma once

#include "import/zoo/builder.hpp"

namespace hone::importer {

struct DenseSpec {
  int64_t features;
  float gain = kLinearGain;
  bool bias = true;
  /// True if the weight is [inputs, features], as in GPT-2's Conv1D, instead of [features, inputs].
  bool by_columns = false;
};

/// x W + b along the last axis of x.
ValueId dense(GraphBuilder& net, const std::string& name, ValueId x, const DenseSpec& spec);
/// Layer normalization over the last axis of x.
ValueId layer_norm(GraphBuilder& net, const std::string& name, ValueId x, float epsilon);
/// x / sqrt(mean(x^2) + epsilon) times a weight, over the last axis (Zhang and Sennrich 2019).
ValueId rms_norm(GraphBuilder& net, const std::string& name, ValueId x, float epsilon);
/// Gelu (Hendrycks and Gimpel 2016), exact or with the approximation "tanh".
ValueId gelu(GraphBuilder& net, const std::string& name, ValueId x, const std::string& approximate = "none");
/// Looks up rows of a table [rows, width].
ValueId embedding(GraphBuilder& net, const std::string& name, ValueId ids, int64_t rows, int64_t width,
                  float deviation);

/// A 0 in `shape` copies the size of x at this position.
ValueId reshape(GraphBuilder& net, const std::string& name, ValueId x, const std::vector<int64_t>& shape);
ValueId transpose(GraphBuilder& net, const std::string& name, ValueId x, std::vector<int64_t> perm);
ValueId scalar(GraphBuilder& net, const std::string& name, float value);
ValueId ints(GraphBuilder& net, const std::string& name, const std::vector<int64_t>& values);
/// The size of one axis, int64 [1].
ValueId size_of(GraphBuilder& net, const std::string& name, ValueId x, int64_t axis);
/// x from `start` to `end` along one axis, both int64 [1].
ValueId slice(GraphBuilder& net, const std::string& name, ValueId x, ValueId start, ValueId end,
              int64_t axis);

/// Converts [batch, rows, heads * depth] to [batch, heads, rows, depth].
ValueId split_heads(GraphBuilder& net, const std::string& name, ValueId x, int64_t heads);
/// softmax(q k^T / sqrt(depth) + mask) v for q, k and v of [batch, heads, rows or keys, depth]; the result is
/// [batch, rows, heads * depth]. There is no mask if it is kNoValue.
ValueId attend(GraphBuilder& net, const std::string& name, ValueId q, ValueId k, ValueId v, ValueId mask);

/// Keys and values of a decoder, those of earlier tokens before the new ones.
struct Cache {
  ValueId keys;    ///< [batch, heads, past + new, depth]
  ValueId values;  ///< the same
};

/// The inputs past_key_values.<layer>.key and .value, float32 [batch, heads, past, depth].
std::vector<Cache> cache_inputs(GraphBuilder& net, int64_t layers, int64_t heads, int64_t depth);
/// Appends the keys and values of new tokens to those of the past.
Cache append_to_cache(GraphBuilder& net, const std::string& name, const Cache& past, const Cache& fresh);
/// Makes the caches the outputs present.<layer>.key and .value.
void output_caches(GraphBuilder& net, std::span<const Cache> caches);

/// A mask [new, past + new]: 0 for the keys that a token may read, its own and earlier ones, and the lowest
/// number elsewhere. `past` and `total` are int64 [1].
ValueId causal_mask(GraphBuilder& net, ValueId past, ValueId total);

}  // namespace hone::importer
