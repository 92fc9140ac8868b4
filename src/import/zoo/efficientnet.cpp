// EfficientNet-B0 (Tan and Le 2019): inverted residuals with squeeze-and-excitation and SiLU.
#include <algorithm>

#include "import/zoo/architectures.hpp"

namespace hone::importer {
namespace {

struct Stage {
  int64_t expansion;
  int64_t kernel;
  int64_t stride;
  int64_t channels;
  int64_t repeats;
};

/// Table 1 of the paper.
constexpr Stage kStages[] = {{1, 3, 1, 16, 1},  {6, 3, 2, 24, 2},  {6, 5, 2, 40, 2}, {6, 3, 2, 80, 3},
                             {6, 5, 1, 112, 3}, {6, 5, 2, 192, 4}, {6, 3, 1, 320, 1}};

/// SiLU leaves a variance of 0.31 of a standard normal variable, and less of a smaller one.
constexpr float kDepthwiseGain = 1.4f;
/// The excitation before the projection is a sigmoid near 0.5, which halves what passes.
constexpr float kProjectionGain = 2.4f;

/// Scale of the last normalization of a branch that is added to its input: branches stay small beside the
/// sum.
constexpr float kBranchGain = 0.3f;

ValueId conv_norm(GraphBuilder& net, const std::string& name, ValueId x, const ConvSpec& spec,
                  float gain = 1.0f) {
  return net.batch_norm(name + ".1", net.conv(name + ".0", x, spec), gain);
}

ValueId conv_norm_silu(GraphBuilder& net, const std::string& name, ValueId x, const ConvSpec& spec) {
  return net.silu(name + ".2", conv_norm(net, name, x, spec));
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

ValueId mb_conv(GraphBuilder& net, const std::string& name, ValueId x, const Stage& stage, int64_t stride) {
  const int64_t inputs = net.channels(x);
  const int64_t hidden = inputs * stage.expansion;
  int64_t index = 0;
  const auto next = [&] { return fmt::format("{}.block.{}", name, index++); };
  ValueId y = x;
  if (stage.expansion != 1) {
    y = conv_norm_silu(net, next(), y, {.channels = hidden, .kernel = 1, .gain = kLinearGain});
  }
  y = conv_norm_silu(net, next(), y,
                     {.channels = hidden,
                      .kernel = stage.kernel,
                      .stride = stride,
                      .padding = stage.kernel / 2,
                      .groups = hidden,
                      .gain = kDepthwiseGain});
  y = squeeze_excitation(net, next(), y, std::max<int64_t>(1, inputs / 4));
  const bool residual = stride == 1 && inputs == stage.channels;
  y = conv_norm(net, next(), y, {.channels = stage.channels, .kernel = 1, .gain = kProjectionGain},
                residual ? kBranchGain : 1.0f);
  return residual ? net.add(name + ".add", y, x) : y;
}

}  // namespace

ValueId build_efficientnet_b0(GraphBuilder& net) {
  ValueId x = conv_norm_silu(net, "features.0", net.input(),
                             {.channels = 32, .kernel = 3, .stride = 2, .padding = 1});
  int64_t index = 1;
  for (const Stage& stage : kStages) {
    for (int64_t i = 0; i < stage.repeats; ++i) {
      const std::string name = fmt::format("features.{}.{}", index, i);
      x = mb_conv(net, name, x, stage, i == 0 ? stage.stride : 1);
    }
    ++index;
  }
  x = conv_norm_silu(net, fmt::format("features.{}", index), x,
                     {.channels = 1280, .kernel = 1, .gain = kLinearGain});
  x = net.flatten("flatten", net.global_average_pool("avgpool", x));
  return net.linear("classifier.1", x, 1000);
}

}  // namespace hone::importer
