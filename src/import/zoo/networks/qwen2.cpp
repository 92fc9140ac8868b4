// The decoder of Qwen2 and Qwen2.5 with 0.5 billion parameters (Yang et al. 2024), like Qwen2ForCausalLM of
// Hugging Face's transformers, with its cache as inputs and outputs.
#include <cmath>

#include "import/zoo/architectures.hpp"
#include "import/zoo/transformer.hpp"

namespace hone::importer {
namespace {

constexpr int64_t kHidden = 896;
constexpr int64_t kHeads = 14;
/// Keys and values have fewer heads; kHeads / kKeyHeads query heads share each of them.
constexpr int64_t kKeyHeads = 2;
constexpr int64_t kDepth = kHidden / kHeads;
constexpr int64_t kLayers = 24;
constexpr int64_t kFeedForward = 4864;
constexpr int64_t kVocabulary = 151936;
constexpr float kEpsilon = 1e-6f;
constexpr double kRotaryBase = 1e6;
// The table of words is also the last projection: see gpt2.cpp.
constexpr float kWordDeviation = 0.1f;
constexpr float kBranchGain = 0.4f;
/// Gain of queries and keys: scores get a deviation of about 2.
constexpr float kScoreGain = 1.4f;
/// Gain after the product of SiLU and the other projection, which has a deviation of about 0.6.
constexpr float kDownGain = 0.7f;

/// Cosines and sines of the angles of rotary positions (Su et al. 2021), [new, depth].
struct Rotary {
  ValueId cosines;
  ValueId sines;
};

Rotary rotary(GraphBuilder& net, ValueId past, ValueId total) {
  std::vector<float> frequencies;
  for (int64_t i = 0; i < kDepth / 2; ++i) {
    const double exponent = static_cast<double>(2 * i) / static_cast<double>(kDepth);
    frequencies.push_back(static_cast<float>(std::pow(kRotaryBase, -exponent)));
  }
  const ValueId frequency =
      net.constant("rotary.frequencies", tensor::Tensor::of<float>(frequencies, {1, kDepth / 2}));
  const ValueId step = net.constant("rotary.step", tensor::Tensor::scalar(int64_t{1}));
  const ValueId positions = net.node(
      "Range", "rotary.positions",
      {net.node("Squeeze", "rotary.start", {past}), net.node("Squeeze", "rotary.end", {total}), step});
  graph::Attributes number;
  number.set("to", static_cast<int64_t>(tensor::DType::kFloat32));
  const ValueId numbers = net.node("Cast", "rotary.numbers", {positions}, number);
  const ValueId column =
      net.node("Unsqueeze", "rotary.column", {numbers, ints(net, "rotary.column.axes", {1})});
  const ValueId angles = net.multiply("rotary.half", column, frequency);
  graph::Attributes along;
  along.set("axis", int64_t{-1});
  const ValueId both = net.node("Concat", "rotary.angles", {angles, angles}, along);
  return {net.node("Cos", "rotary.cosines", {both}), net.node("Sin", "rotary.sines", {both})};
}

/// x is [batch, heads, new, depth].
ValueId rotate(GraphBuilder& net, const std::string& name, ValueId x, const Rotary& rotary) {
  const ValueId middle = ints(net, name + ".middle", {kDepth / 2});
  const ValueId first = slice(net, name + ".first", x, ints(net, name + ".zero", {0}), middle, 3);
  const ValueId second = slice(net, name + ".second", x, middle, ints(net, name + ".end", {kDepth}), 3);
  graph::Attributes along;
  along.set("axis", int64_t{-1});
  const ValueId negative = net.node("Neg", name + ".negative", {second});
  const ValueId turned = net.node("Concat", name + ".turned", {negative, first}, along);
  return net.add(name + ".rotated", net.multiply(name + ".along", x, rotary.cosines),
                 net.multiply(name + ".across", turned, rotary.sines));
}

/// Repeats every head of [batch, key heads, total, depth] for the query heads that share it.
ValueId repeat_heads(GraphBuilder& net, const std::string& name, ValueId x) {
  constexpr int64_t kShared = kHeads / kKeyHeads;
  const ValueId apart = net.node("Unsqueeze", name + ".apart", {x, ints(net, name + ".axes", {2})});
  const ValueId repeated =
      net.node("Expand", name + ".repeated", {apart, ints(net, name + ".times", {1, 1, kShared, 1, 1})});
  return reshape(net, name + ".shared", repeated, {0, kHeads, -1, kDepth});
}

ValueId attention(GraphBuilder& net, const std::string& root, ValueId x, ValueId mask,
                  const Rotary& positions, const std::string& cache_name, const Cache& past, Cache* cache) {
  const auto project = [&](const char* part, int64_t heads, float gain) {
    const std::string name = root + part;
    return split_heads(net, name, dense(net, name, x, {.features = heads * kDepth, .gain = gain}), heads);
  };
  const ValueId q = rotate(net, root + ".query", project(".q_proj", kHeads, kScoreGain), positions);
  const ValueId k = rotate(net, root + ".key", project(".k_proj", kKeyHeads, kScoreGain), positions);
  const ValueId v = project(".v_proj", kKeyHeads, kLinearGain);
  *cache = append_to_cache(net, cache_name, past, {k, v});
  const ValueId y = attend(net, root, q, repeat_heads(net, root + ".keys", cache->keys),
                           repeat_heads(net, root + ".values", cache->values), mask);
  return dense(net, root + ".o_proj", y, {.features = kHidden, .gain = kBranchGain, .bias = false});
}

ValueId feed_forward(GraphBuilder& net, const std::string& root, ValueId x) {
  const ValueId gate = dense(net, root + ".gate_proj", x, {.features = kFeedForward, .bias = false});
  const ValueId up = dense(net, root + ".up_proj", x, {.features = kFeedForward, .bias = false});
  const ValueId y = net.multiply(root + ".gated", net.silu(root + ".act_fn", gate), up);
  return dense(net, root + ".down_proj", y, {.features = kHidden, .gain = kDownGain, .bias = false});
}

}  // namespace

void build_qwen2_0_5b(GraphBuilder& net) {
  const ValueId ids = net.input("input_ids", tensor::DType::kInt64,
                                {graph::Dim::symbol("batch"), graph::Dim::symbol("sequence")});
  const std::vector<Cache> pasts = cache_inputs(net, kLayers, kKeyHeads, kDepth);
  const ValueId past = size_of(net, "past", pasts.front().keys, 2);
  const ValueId total = net.add("total", past, size_of(net, "new", ids, 1));
  const ValueId mask = causal_mask(net, past, total);
  const Rotary positions = rotary(net, past, total);

  const ValueId table =
      net.parameter({"embed_tokens.weight", {kVocabulary, kHidden}, Role::kEmbedding, kWordDeviation});
  ValueId x = net.node("Gather", "embed_tokens", {table, ids});
  std::vector<Cache> caches(pasts.size());
  for (size_t layer = 0; layer < pasts.size(); ++layer) {
    const std::string root = fmt::format("layers.{}", layer);
    ValueId y = rms_norm(net, root + ".input_layernorm", x, kEpsilon);
    y = attention(net, root + ".self_attn", y, mask, positions, fmt::format("cache.{}", layer), pasts[layer],
                  &caches[layer]);
    x = net.add(root + ".add_1", x, y);
    y = feed_forward(net, root + ".mlp", rms_norm(net, root + ".post_attention_layernorm", x, kEpsilon));
    x = net.add(root + ".add_2", x, y);
  }
  x = rms_norm(net, "norm", x, kEpsilon);
  net.output("logits",
             net.node("MatMul", "lm_head", {x, transpose(net, "lm_head.transposed", table, {1, 0})}));
  output_caches(net, caches);
}

}  // namespace hone::importer
