// Whisper (Radford et al. 2022), like WhisperModel of Hugging Face's transformers: the encoder in three
// sizes, and the smallest decoder with its cache as inputs and outputs.
#include "import/zoo/architectures.hpp"
#include "import/zoo/transformer.hpp"

namespace hone::importer {
namespace {

constexpr int64_t kMels = 80;
constexpr int64_t kFrames = 3000;
constexpr int64_t kPositions = 1500;
constexpr int64_t kTokens = 448;
/// Channels of a head, at every size.
constexpr int64_t kDepth = 64;
/// Sizes of the tiny encoder.
constexpr int64_t kHidden = 384;
constexpr int64_t kLayers = 4;
constexpr int64_t kVocabulary = 51865;
constexpr float kEpsilon = 1e-5f;
constexpr float kPlaceDeviation = 0.3f;
// The table of words is also the last projection: see gpt2.cpp.
constexpr float kWordDeviation = 0.1f;
constexpr float kBranchGain = 0.7f;
/// Gain of queries and keys: scores get a deviation of about 2.
constexpr float kScoreGain = 1.4f;
/// GELU of a standard normal variable has a second moment of 0.43.
constexpr float kConvGain = 1.5f;

/// A convolution of width 3 along the frames of [batch, channels, frames], then GELU.
ValueId conv_gelu(GraphBuilder& net, const std::string& name, ValueId x, int64_t hidden, int64_t stride) {
  const ValueId weight =
      net.parameter({name + ".weight", {hidden, net.dim(x, 1), 3}, Role::kFilter, kConvGain});
  const ValueId bias = net.parameter({name + ".bias", {hidden}, Role::kBias});
  graph::Attributes attributes;
  attributes.set("kernel_shape", std::vector<int64_t>{3});
  attributes.set("strides", std::vector<int64_t>{stride});
  attributes.set("pads", std::vector<int64_t>{1, 1});
  return gelu(net, name + ".gelu", net.node("Conv", name, {x, weight, bias}, std::move(attributes)));
}

ValueId project(GraphBuilder& net, const std::string& name, ValueId x, float gain, bool bias = true) {
  const int64_t hidden = net.dim(x, -1);
  return split_heads(net, name, dense(net, name, x, {.features = hidden, .gain = gain, .bias = bias}),
                     hidden / kDepth);
}

ValueId keys_of(GraphBuilder& net, const std::string& root, ValueId x) {
  return project(net, root + ".k_proj", x, kScoreGain, false);
}

ValueId values_of(GraphBuilder& net, const std::string& root, ValueId x) {
  return project(net, root + ".v_proj", x, kLinearGain);
}

ValueId attention(GraphBuilder& net, const std::string& root, ValueId x, const Cache& seen, ValueId mask) {
  const ValueId q = project(net, root + ".q_proj", x, kScoreGain);
  const ValueId y = attend(net, root, q, seen.keys, seen.values, mask);
  return dense(net, root + ".out_proj", y, {.features = net.dim(x, -1), .gain = kBranchGain});
}

ValueId feed_forward(GraphBuilder& net, const std::string& root, ValueId x) {
  const int64_t hidden = net.dim(x, -1);
  ValueId y = layer_norm(net, root + ".final_layer_norm", x, kEpsilon);
  y = gelu(net, root + ".activation", dense(net, root + ".fc1", y, {.features = 4 * hidden}));
  y = dense(net, root + ".fc2", y, {.features = hidden, .gain = kBranchGain});
  return net.add(root + ".add_fc", x, y);
}

void encoder(GraphBuilder& net, int64_t hidden, int64_t layers) {
  ValueId x =
      net.input("input_features", tensor::DType::kFloat32, {graph::Dim::symbol("batch"), kMels, kFrames});
  x = conv_gelu(net, "conv2", conv_gelu(net, "conv1", x, hidden, 1), hidden, 2);
  const ValueId places =
      net.parameter({"embed_positions.weight", {kPositions, hidden}, Role::kEmbedding, kPlaceDeviation});
  x = net.add("embedding", transpose(net, "frames", x, {0, 2, 1}), places);
  for (int64_t layer = 0; layer < layers; ++layer) {
    const std::string root = fmt::format("layers.{}", layer);
    const std::string attn = root + ".self_attn";
    const ValueId y = layer_norm(net, root + ".self_attn_layer_norm", x, kEpsilon);
    const Cache seen{keys_of(net, attn, y), values_of(net, attn, y)};
    x = net.add(root + ".add_attn", x, attention(net, attn, y, seen, graph::kNoValue));
    x = feed_forward(net, root, x);
  }
  net.output("last_hidden_state", layer_norm(net, "layer_norm", x, kEpsilon));
}

}  // namespace

void build_whisper_tiny_encoder(GraphBuilder& net) { encoder(net, kHidden, kLayers); }
void build_whisper_base_encoder(GraphBuilder& net) { encoder(net, 512, 6); }
void build_whisper_small_encoder(GraphBuilder& net) { encoder(net, 768, 12); }

void build_whisper_tiny_decoder(GraphBuilder& net) {
  const graph::Dim batch = graph::Dim::symbol("batch");
  const ValueId ids = net.input("input_ids", tensor::DType::kInt64, {batch, graph::Dim::symbol("sequence")});
  const ValueId heard =
      net.input("encoder_hidden_states", tensor::DType::kFloat32, {batch, kPositions, kHidden});
  const std::vector<Cache> pasts = cache_inputs(net, kLayers, kHidden / kDepth, kDepth);
  const ValueId past = size_of(net, "past", pasts.front().keys, 2);
  const ValueId total = net.add("total", past, size_of(net, "new", ids, 1));
  const ValueId mask = causal_mask(net, past, total);
  const ValueId table =
      net.parameter({"embed_tokens.weight", {kVocabulary, kHidden}, Role::kEmbedding, kWordDeviation});
  const ValueId places =
      net.parameter({"embed_positions.weight", {kTokens, kHidden}, Role::kEmbedding, kWordDeviation});
  ValueId x = net.add("embedding", net.node("Gather", "embed_tokens", {table, ids}),
                      slice(net, "embed_positions", places, past, total, 0));
  std::vector<Cache> caches(pasts.size());
  for (size_t layer = 0; layer < pasts.size(); ++layer) {
    const std::string root = fmt::format("layers.{}", layer);
    const std::string self = root + ".self_attn";
    ValueId y = layer_norm(net, root + ".self_attn_layer_norm", x, kEpsilon);
    caches[layer] = append_to_cache(net, fmt::format("cache.{}", layer), pasts[layer],
                                    {keys_of(net, self, y), values_of(net, self, y)});
    x = net.add(root + ".add_self", x, attention(net, self, y, caches[layer], mask));
    const std::string cross = root + ".encoder_attn";
    y = layer_norm(net, root + ".encoder_attn_layer_norm", x, kEpsilon);
    const Cache seen{keys_of(net, cross, heard), values_of(net, cross, heard)};
    x = net.add(root + ".add_cross", x, attention(net, cross, y, seen, graph::kNoValue));
    x = feed_forward(net, root, x);
  }
  x = layer_norm(net, "layer_norm", x, kEpsilon);
  net.output("logits",
             net.node("MatMul", "proj_out", {x, transpose(net, "proj_out.transposed", table, {1, 0})}));
  output_caches(net, caches);
}

}  // namespace hone::importer
