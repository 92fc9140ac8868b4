// GPT-2 with 124 million parameters (Radford et al. 2019), like GPT2LMHeadModel of Hugging Face's
// transformers, with its cache as inputs and outputs.
#include "import/zoo/architectures.hpp"
#include "import/zoo/transformer.hpp"

namespace hone::importer {
namespace {

constexpr int64_t kHidden = 768;
constexpr int64_t kHeads = 12;
constexpr int64_t kDepth = kHidden / kHeads;
constexpr int64_t kLayers = 12;
constexpr int64_t kVocabulary = 50257;
constexpr int64_t kPositions = 1024;
constexpr float kEpsilon = 1e-5f;
// The table of words is also the last projection. Its values are small compared to the sums that the layers
// add, because otherwise each word would predict itself.
constexpr float kWordDeviation = 0.1f;
constexpr float kPlaceDeviation = 0.1f;
constexpr float kBranchGain = 0.4f;
/// Gain of the packed projection: scores get a deviation of about 2.
constexpr float kScoreGain = 1.4f;

ValueId attention(GraphBuilder& net, const std::string& root, ValueId x, ValueId mask,
                  const std::string& cache_name, const Cache& past, Cache* cache) {
  const ValueId packed =
      dense(net, root + ".c_attn", x, {.features = 3 * kHidden, .gain = kScoreGain, .by_columns = true});
  graph::Attributes parts;
  parts.set("axis", int64_t{-1});
  parts.set("num_outputs", int64_t{3});
  const auto split = net.nodes("Split", root + ".split", {packed}, 3, parts);
  const ValueId q = split_heads(net, root + ".query", split[0], kHeads);
  const ValueId k = split_heads(net, root + ".key", split[1], kHeads);
  const ValueId v = split_heads(net, root + ".value", split[2], kHeads);
  *cache = append_to_cache(net, cache_name, past, {k, v});
  const ValueId y = attend(net, root, q, cache->keys, cache->values, mask);
  return dense(net, root + ".c_proj", y, {.features = kHidden, .gain = kBranchGain, .by_columns = true});
}

ValueId feed_forward(GraphBuilder& net, const std::string& root, ValueId x) {
  ValueId y = dense(net, root + ".c_fc", x, {.features = 4 * kHidden, .by_columns = true});
  y = gelu(net, root + ".act", y, "tanh");
  return dense(net, root + ".c_proj", y, {.features = kHidden, .gain = kBranchGain, .by_columns = true});
}

}  // namespace

void build_gpt2(GraphBuilder& net) {
  const ValueId ids = net.input("input_ids", tensor::DType::kInt64,
                                {graph::Dim::symbol("batch"), graph::Dim::symbol("sequence")});
  const std::vector<Cache> pasts = cache_inputs(net, kLayers, kHeads, kDepth);
  const ValueId past = size_of(net, "past", pasts.front().keys, 2);
  const ValueId total = net.add("total", past, size_of(net, "new", ids, 1));
  const ValueId mask = causal_mask(net, past, total);

  const ValueId table =
      net.parameter({"wte.weight", {kVocabulary, kHidden}, Role::kEmbedding, kWordDeviation});
  const ValueId places =
      net.parameter({"wpe.weight", {kPositions, kHidden}, Role::kEmbedding, kPlaceDeviation});
  ValueId x = net.add("embedding", net.node("Gather", "wte", {table, ids}),
                      slice(net, "wpe", places, past, total, 0));
  std::vector<Cache> caches(pasts.size());
  for (size_t layer = 0; layer < pasts.size(); ++layer) {
    const std::string root = fmt::format("h.{}", layer);
    ValueId y = layer_norm(net, root + ".ln_1", x, kEpsilon);
    y = attention(net, root + ".attn", y, mask, fmt::format("cache.{}", layer), pasts[layer], &caches[layer]);
    x = net.add(root + ".add_1", y, x);
    y = feed_forward(net, root + ".mlp", layer_norm(net, root + ".ln_2", x, kEpsilon));
    x = net.add(root + ".add_2", x, y);
  }
  x = layer_norm(net, "ln_f", x, kEpsilon);
  net.output("logits",
             net.node("MatMul", "lm_head", {x, transpose(net, "lm_head.transposed", table, {1, 0})}));
  output_caches(net, caches);
}

}  // namespace hone::importer
