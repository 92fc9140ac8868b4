// EfficientNet-B0 (Tan and Le 2019): inverted residuals with squeeze-and-excitation and SiLU; and
// EfficientNetV2-S (Tan and Le 2021), whose first stages have one dense convolution where B0 has two.
#include <algorithm>
#include <span>

#include "import/zoo/architectures.hpp"

namespace hone::importer {
namespace {

struct Stage {
  int64_t expansion;
  int64_t kernel;
  int64_t stride;
  int64_t channels;
  int64_t repeats;
  /// True if one dense convolution replaces the expansion and the depthwise convolution.
  bool fused = false;
};

/// Table 1 of the paper.
constexpr Stage kStages[] = {{1, 3, 1, 16, 1},  {6, 3, 2, 24, 2},  {6, 5, 2, 40, 2}, {6, 3, 2, 80, 3},
                             {6, 5, 1, 112, 3}, {6, 5, 2, 192, 4}, {6, 3, 1, 320, 1}};

/// Table 4 of the second paper.
constexpr Stage kStagesV2[] = {{1, 3, 1, 24, 2, true}, {4, 3, 2, 48, 4, true}, {4, 3, 2, 64, 4, true},
                               {4, 3, 2, 128, 6},      {6, 3, 1, 160, 9},      {6, 3, 2, 256, 15}};

/// Epsilons of the normalizations.
constexpr float kEpsilon = 1e-5f;
constexpr float kEpsilonV2 = 1e-3f;

/// SiLU of a standard normal variable has variance 0.31; for smaller inputs the ratio is lower.
constexpr float kDepthwiseGain = 1.4f;
/// Gain of layers that follow SiLU and read all channels.
constexpr float kDenseGain = 1.6f;
/// The excitation before the projection is a sigmoid near 0.5, which halves the values.
constexpr float kProjectionGain = 2.4f;

/// Scale of the last normalization of a branch that is added to its input: branches stay small in the sum.
constexpr float kBranchGain = 0.3f;

ValueId conv_norm(GraphBuilder& net, const std::string& name, ValueId x, const ConvSpec& spec, float epsilon,
                  float gain = 1.0f) {
  return net.batch_norm(name + ".1", net.conv(name + ".0", x, spec), gain, epsilon);
}

ValueId conv_norm_silu(GraphBuilder& net, const std::string& name, ValueId x, const ConvSpec& spec,
                       float epsilon) {
  return net.silu(name + ".2", conv_norm(net, name, x, spec, epsilon));
}

ValueId squeeze_excitation(GraphBuilder& net, const std::string& name, ValueId x, int64_t squeezed) {
  const auto dense = [&](const char* layer, ValueId from, int64_t channels) {
    return net.conv(name + layer, from,
                    {.channels = channels, .kernel = 1, .bias = true, .gain = kLinearGain});
  };
  ValueId scale = net.global_average_pool(name + ".avgpool", x);
  scale = net.silu(name + ".activation", dense(".fc1", scale, squeezed));
  scale = net.sigmoid(name + ".scale_activation", dense(".fc2", scale, net.channels(x)));
  return net.multiply(name + ".scale", scale, x);
}

ValueId mb_conv(GraphBuilder& net, const std::string& name, ValueId x, const Stage& stage, int64_t stride,
                float epsilon) {
  const int64_t inputs = net.channels(x);
  const int64_t hidden = inputs * stage.expansion;
  int64_t index = 0;
  const auto next = [&] { return fmt::format("{}.block.{}", name, index++); };
  ValueId y = x;
  if (stage.expansion != 1) {
    y = conv_norm_silu(net, next(), y, {.channels = hidden, .kernel = 1, .gain = kLinearGain}, epsilon);
  }
  y = conv_norm_silu(net, next(), y,
                     {.channels = hidden,
                      .kernel = stage.kernel,
                      .stride = stride,
                      .padding = stage.kernel / 2,
                      .groups = hidden,
                      .gain = kDepthwiseGain},
                     epsilon);
  y = squeeze_excitation(net, next(), y, std::max<int64_t>(1, inputs / 4));
  const bool residual = stride == 1 && inputs == stage.channels;
  y = conv_norm(net, next(), y, {.channels = stage.channels, .kernel = 1, .gain = kProjectionGain}, epsilon,
                residual ? kBranchGain : 1.0f);
  return residual ? net.add(name + ".add", y, x) : y;
}

ValueId fused_mb_conv(GraphBuilder& net, const std::string& name, ValueId x, const Stage& stage,
                      int64_t stride, float epsilon) {
  const int64_t inputs = net.channels(x);
  const int64_t hidden = inputs * stage.expansion;
  const bool residual = stride == 1 && inputs == stage.channels;
  const float gain = residual ? kBranchGain : 1.0f;
  const ConvSpec dense{.channels = hidden,
                       .kernel = stage.kernel,
                       .stride = stride,
                       .padding = stage.kernel / 2,
                       .gain = kDenseGain};
  ValueId y = graph::kNoValue;
  if (stage.expansion == 1) {
    y = net.silu(name + ".block.0.2", conv_norm(net, name + ".block.0", x, dense, epsilon, gain));
  } else {
    y = conv_norm_silu(net, name + ".block.0", x, dense, epsilon);
    y = conv_norm(net, name + ".block.1", y, {.channels = stage.channels, .kernel = 1, .gain = kDenseGain},
                  epsilon, gain);
  }
  return residual ? net.add(name + ".add", y, x) : y;
}

ValueId efficientnet(GraphBuilder& net, int64_t first, std::span<const Stage> stages, float epsilon) {
  ValueId x = conv_norm_silu(net, "features.0", net.input(),
                             {.channels = first, .kernel = 3, .stride = 2, .padding = 1}, epsilon);
  int64_t index = 1;
  for (const Stage& stage : stages) {
    for (int64_t i = 0; i < stage.repeats; ++i) {
      const std::string name = fmt::format("features.{}.{}", index, i);
      const auto block = stage.fused ? fused_mb_conv : mb_conv;
      x = block(net, name, x, stage, i == 0 ? stage.stride : 1, epsilon);
    }
    ++index;
  }
  x = conv_norm_silu(net, fmt::format("features.{}", index), x,
                     {.channels = 1280, .kernel = 1, .gain = kLinearGain}, epsilon);
  x = net.flatten("flatten", net.global_average_pool("avgpool", x));
  return net.linear("classifier.1", x, 1000);
}

}  // namespace

ValueId build_efficientnet_b0(GraphBuilder& net) { return efficientnet(net, 32, kStages, kEpsilon); }
ValueId build_efficientnet_v2_s(GraphBuilder& net) { return efficientnet(net, 24, kStagesV2, kEpsilonV2); }

}  // namespace hone::importer
