// MobileNetV3-Large (Howard et al. 2019).
#include <algorithm>

#include "import/zoo/architectures.hpp"

namespace hone::importer {
namespace {

struct Block {
  int64_t kernel;
  int64_t expanded;
  int64_t channels;
  bool squeezes;
  bool hard_swish;
  int64_t stride;
};

/// Table 1 of the paper.
constexpr Block kBlocks[] = {
    {3, 16, 16, false, false, 1}, {3, 64, 24, false, false, 2}, {3, 72, 24, false, false, 1},
    {5, 72, 40, true, false, 2},  {5, 120, 40, true, false, 1}, {5, 120, 40, true, false, 1},
    {3, 240, 80, false, true, 2}, {3, 200, 80, false, true, 1}, {3, 184, 80, false, true, 1},
    {3, 184, 80, false, true, 1}, {3, 480, 112, true, true, 1}, {3, 672, 112, true, true, 1},
    {5, 672, 160, true, true, 2}, {5, 960, 160, true, true, 1}, {5, 960, 160, true, true, 1},
};

constexpr float kEpsilon = 1e-3f;
/// A depthwise filter reads rectified inputs channel by channel.
constexpr float kDepthwiseGain = 1.5f;
/// The excitation is a hard sigmoid near 0.5, which halves the values.
constexpr float kExcitedGain = 2.8f;
/// Scale of the last normalization of a branch that is added to its input.
constexpr float kBranchGain = 0.3f;

enum class Activation : uint8_t { kNone, kRelu, kHardSwish };

ValueId activate(GraphBuilder& net, const std::string& name, ValueId x, Activation activation) {
  switch (activation) {
    case Activation::kRelu: return net.relu(name, x);
    case Activation::kHardSwish: return net.node("HardSwish", name, {x});
    case Activation::kNone: break;
  }
  return x;
}

ValueId conv_norm(GraphBuilder& net, const std::string& name, ValueId x, const ConvSpec& spec,
                  Activation activation, float gain = 1.0f) {
  x = net.batch_norm(name + ".1", net.conv(name + ".0", x, spec), gain, kEpsilon);
  return activate(net, name + ".2", x, activation);
}

/// The nearest multiple of 8 that is not more than a tenth smaller.
int64_t rounded_to_8(int64_t channels) {
  const int64_t rounded = std::max<int64_t>(8, (channels + 4) / 8 * 8);
  return 10 * rounded < 9 * channels ? rounded + 8 : rounded;
}

ValueId squeeze_excitation(GraphBuilder& net, const std::string& name, ValueId x) {
  const auto layer = [&](const char* part, ValueId from, int64_t channels) {
    return net.conv(name + part, from,
                    {.channels = channels, .kernel = 1, .bias = true, .gain = kLinearGain});
  };
  ValueId scale =
      layer(".fc1", net.global_average_pool(name + ".avgpool", x), rounded_to_8(net.channels(x) / 4));
  scale = layer(".fc2", net.relu(name + ".activation", scale), net.channels(x));
  graph::Attributes attributes;
  attributes.set("alpha", 1.0f / 6);
  scale = net.node("HardSigmoid", name + ".scale_activation", {scale}, attributes);
  return net.multiply(name + ".scale", scale, x);
}

ValueId inverted_residual(GraphBuilder& net, const std::string& name, ValueId x, const Block& block) {
  const Activation activation = block.hard_swish ? Activation::kHardSwish : Activation::kRelu;
  int64_t index = 0;
  const auto next = [&] { return fmt::format("{}.block.{}", name, index++); };
  ValueId y = x;
  if (block.expanded != net.channels(x))
    y = conv_norm(net, next(), y, {.channels = block.expanded, .kernel = 1, .gain = kLinearGain}, activation);
  y = conv_norm(net, next(), y,
                {.channels = block.expanded,
                 .kernel = block.kernel,
                 .stride = block.stride,
                 .padding = block.kernel / 2,
                 .groups = block.expanded,
                 .gain = kDepthwiseGain},
                activation);
  if (block.squeezes) y = squeeze_excitation(net, next(), y);
  const bool residual = block.stride == 1 && net.channels(x) == block.channels;
  ConvSpec projection{.channels = block.channels, .kernel = 1};
  if (block.squeezes) projection.gain = kExcitedGain;
  y = conv_norm(net, next(), y, projection, Activation::kNone, residual ? kBranchGain : 1.0f);
  return residual ? net.add(name + ".add", y, x) : y;
}

}  // namespace

ValueId build_mobilenet_v3_large(GraphBuilder& net) {
  ValueId x = conv_norm(net, "features.0", net.input(),
                        {.channels = 16, .kernel = 3, .stride = 2, .padding = 1}, Activation::kHardSwish);
  int64_t index = 1;
  for (const Block& block : kBlocks)
    x = inverted_residual(net, fmt::format("features.{}", index++), x, block);
  x = conv_norm(net, fmt::format("features.{}", index), x,
                {.channels = 6 * net.channels(x), .kernel = 1, .gain = kLinearGain}, Activation::kHardSwish);
  x = net.flatten("flatten", net.global_average_pool("avgpool", x));
  x = activate(net, "classifier.1", net.linear("classifier.0", x, 1280), Activation::kHardSwish);
  return net.linear("classifier.3", x, 1000);
}

}  // namespace hone::importer
