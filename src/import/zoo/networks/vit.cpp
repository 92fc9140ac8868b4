// ViT-B/16 (Dosovitskiy et al. 2021).
#include <array>

#include "import/zoo/architectures.hpp"
#include "import/zoo/transformer.hpp"

namespace hone::importer {
namespace {

constexpr int64_t kPatch = 16;
constexpr int64_t kHidden = 768;
constexpr int64_t kHeads = 12;
constexpr int64_t kFeedForward = 3072;
constexpr int64_t kLayers = 12;
constexpr float kEpsilon = 1e-6f;
/// Gain of the packed projection: scores get a deviation of about 2.
constexpr float kScoreGain = 1.4f;
/// Gain of layers whose results are added to their input: small, because 24 of them add up.
constexpr float kBranchGain = 0.4f;
constexpr float kPlaceDeviation = 0.3f;

/// [batch, 1 + patches, hidden]: the class token, then the patches, row by row.
ValueId embed(GraphBuilder& net) {
  ValueId x =
      net.conv("conv_proj", net.image(224),
               {.channels = kHidden, .kernel = kPatch, .stride = kPatch, .bias = true, .gain = kLinearGain});
  const ValueId batch = size_of(net, "batch", x, 0);
  const int64_t patches = net.dim(x, 2) * net.dim(x, 3);
  x = transpose(net, "patches", reshape(net, "flatten", x, {0, kHidden, patches}), {0, 2, 1});
  const ValueId token = net.parameter({"class_token", {1, 1, kHidden}, Role::kEmbedding, 1.0f});
  graph::Attributes along_rows;
  along_rows.set("axis", int64_t{0});
  const ValueId shape =
      net.node("Concat", "class_shape", {batch, ints(net, "class_shape.rest", {1, kHidden})}, along_rows);
  const std::array<ValueId, 2> parts{net.node("Expand", "class_tokens", {token, shape}), x};
  x = net.concat("tokens", parts);
  const ValueId places =
      net.parameter({"encoder.pos_embedding", {1, patches + 1, kHidden}, Role::kEmbedding, kPlaceDeviation});
  return net.add("encoder.add", x, places);
}

ValueId self_attention(GraphBuilder& net, const std::string& name, ValueId x) {
  const ValueId weight =
      net.parameter({name + ".in_proj_weight", {3 * kHidden, kHidden}, Role::kFilter, kScoreGain});
  const ValueId bias = net.parameter({name + ".in_proj_bias", {3 * kHidden}, Role::kBias});
  const ValueId product = net.node("MatMul", name + ".in_proj.matmul",
                                   {x, transpose(net, name + ".in_proj.transposed", weight, {1, 0})});
  graph::Attributes parts;
  parts.set("axis", int64_t{-1});
  parts.set("num_outputs", int64_t{3});
  const auto packed =
      net.nodes("Split", name + ".split", {net.add(name + ".in_proj", product, bias)}, 3, parts);
  const ValueId q = split_heads(net, name + ".query", packed[0], kHeads);
  const ValueId k = split_heads(net, name + ".key", packed[1], kHeads);
  const ValueId v = split_heads(net, name + ".value", packed[2], kHeads);
  const ValueId y = attend(net, name, q, k, v, graph::kNoValue);
  return dense(net, name + ".out_proj", y, {.features = kHidden, .gain = kBranchGain});
}

ValueId encoder_layer(GraphBuilder& net, const std::string& root, ValueId x) {
  ValueId y = layer_norm(net, root + ".ln_1", x, kEpsilon);
  x = net.add(root + ".add_1", self_attention(net, root + ".self_attention", y), x);
  y = layer_norm(net, root + ".ln_2", x, kEpsilon);
  y = gelu(net, root + ".mlp.1", dense(net, root + ".mlp.0", y, {.features = kFeedForward}));
  y = dense(net, root + ".mlp.3", y, {.features = kHidden, .gain = kBranchGain});
  return net.add(root + ".add_2", x, y);
}

}  // namespace

void build_vit_b_16(GraphBuilder& net) {
  ValueId x = embed(net);
  for (int64_t i = 0; i < kLayers; ++i)
    x = encoder_layer(net, fmt::format("encoder.layers.encoder_layer_{}", i), x);
  x = layer_norm(net, "encoder.ln", x, kEpsilon);
  graph::Attributes along_tokens;
  along_tokens.set("axis", int64_t{1});
  const ValueId index = net.constant("class_index", tensor::Tensor::scalar(int64_t{0}));
  x = net.node("Gather", "class", {x, index}, along_tokens);
  net.output("output", dense(net, "heads.head", x, {.features = 1000}));
}

}  // namespace hone::importer
