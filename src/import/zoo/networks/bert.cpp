// BERT (Devlin et al. 2019) without a head, like BertModel of Hugging Face's transformers, and MiniLM-L6, a
// smaller BERT (Wang et al. 2020; all-MiniLM-L6-v2).
#include <limits>

#include "import/zoo/architectures.hpp"
#include "import/zoo/transformer.hpp"

namespace hone::importer {
namespace {

struct Sizes {
  int64_t hidden;
  int64_t layers;
  int64_t feed_forward;
};

constexpr int64_t kHeads = 12;
constexpr int64_t kVocabulary = 30522;
constexpr int64_t kPositions = 512;
constexpr float kEpsilon = 1e-12f;
/// Deviation of position embeddings, which carry less information than words.
constexpr float kPlaceDeviation = 0.3f;
/// Gain of queries and keys: scores get a deviation of about 2, so that tokens attend to some tokens more
/// than to others.
constexpr float kScoreGain = 1.4f;
/// Gain of layers whose results are added to their input.
constexpr float kBranchGain = 0.7f;

ValueId embed(GraphBuilder& net, ValueId ids, ValueId types, int64_t hidden) {
  const std::string root = "embeddings.";
  const ValueId words = embedding(net, root + "word_embeddings", ids, kVocabulary, hidden, 1.0f);
  const ValueId kinds = embedding(net, root + "token_type_embeddings", types, 2, hidden, kPlaceDeviation);
  const ValueId table = net.parameter(
      {root + "position_embeddings.weight", {kPositions, hidden}, Role::kEmbedding, kPlaceDeviation});
  const ValueId length = size_of(net, root + "length", ids, 1);
  const ValueId places =
      slice(net, root + "position_embeddings", table, ints(net, root + "start", {0}), length, 0);
  const ValueId sum = net.add(root + "add_types", words, kinds);
  return layer_norm(net, root + "LayerNorm", net.add(root + "add_positions", sum, places), kEpsilon);
}

/// (1 - mask) times the lowest number: [batch, 1, 1, keys].
ValueId additive_mask(GraphBuilder& net, ValueId mask) {
  const ValueId wide = net.node("Unsqueeze", "mask.wide", {mask, ints(net, "mask.axes", {1, 2})});
  graph::Attributes attributes;
  attributes.set("to", static_cast<int64_t>(tensor::DType::kFloat32));
  const ValueId number = net.node("Cast", "mask.number", {wide}, std::move(attributes));
  const ValueId inverse = net.node("Sub", "mask.inverse", {scalar(net, "mask.one", 1.0f), number});
  return net.multiply("mask", inverse, scalar(net, "mask.lowest", std::numeric_limits<float>::lowest()));
}

ValueId encoder_layer(GraphBuilder& net, const std::string& root, ValueId x, ValueId mask,
                      int64_t feed_forward) {
  const int64_t hidden = net.dim(x, -1);
  const auto project = [&](const char* part, float gain) {
    const std::string name = root + ".attention.self." + part;
    return split_heads(net, name, dense(net, name, x, {.features = hidden, .gain = gain}), kHeads);
  };
  const ValueId q = project("query", kScoreGain);
  const ValueId k = project("key", kScoreGain);
  const ValueId v = project("value", kLinearGain);
  ValueId y = attend(net, root + ".attention.self", q, k, v, mask);
  const std::string output = root + ".attention.output";
  y = dense(net, output + ".dense", y, {.features = hidden, .gain = kBranchGain});
  x = layer_norm(net, output + ".LayerNorm", net.add(output + ".add", y, x), kEpsilon);
  y = dense(net, root + ".intermediate.dense", x, {.features = feed_forward});
  y = gelu(net, root + ".intermediate.gelu", y);
  y = dense(net, root + ".output.dense", y, {.features = hidden, .gain = kBranchGain});
  return layer_norm(net, root + ".output.LayerNorm", net.add(root + ".output.add", y, x), kEpsilon);
}

/// Tanh of a projection of the first token.
ValueId pool(GraphBuilder& net, ValueId x) {
  const ValueId first = net.node("Gather", "pooler.first",
                                 {x, net.constant("pooler.index", tensor::Tensor::scalar(int64_t{0}))}, [] {
                                   graph::Attributes attributes;
                                   attributes.set("axis", int64_t{1});
                                   return attributes;
                                 }());
  return net.node("Tanh", "pooler.activation",
                  {dense(net, "pooler.dense", first, {.features = net.dim(x, -1)})});
}

void bert(GraphBuilder& net, const Sizes& sizes) {
  const graph::Dims tokens{graph::Dim::symbol("batch"), graph::Dim::symbol("sequence")};
  const ValueId ids = net.input("input_ids", tensor::DType::kInt64, tokens);
  const ValueId mask = additive_mask(net, net.input("attention_mask", tensor::DType::kInt64, tokens));
  const ValueId types = net.input("token_type_ids", tensor::DType::kInt64, tokens);
  ValueId x = embed(net, ids, types, sizes.hidden);
  for (int64_t i = 0; i < sizes.layers; ++i)
    x = encoder_layer(net, fmt::format("encoder.layer.{}", i), x, mask, sizes.feed_forward);
  net.output("last_hidden_state", x);
  net.output("pooler_output", pool(net, x));
}

}  // namespace

void build_bert_base(GraphBuilder& net) { bert(net, {.hidden = 768, .layers = 12, .feed_forward = 3072}); }

void build_minilm(GraphBuilder& net) { bert(net, {.hidden = 384, .layers = 6, .feed_forward = 1536}); }

}  // namespace hone::importer
