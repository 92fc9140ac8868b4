// MobileNetV2 (Sandler et al. 2018).
#include "import/zoo/architectures.hpp"

namespace hone::importer {
namespace {

struct Stage {
  int64_t expansion;
  int64_t channels;
  int64_t repeats;
  int64_t stride;
};

/// Table 2 of the paper.
constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                             {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};

/// A depthwise filter reads rectified inputs channel by channel, so other channels do not compensate for the
/// clipping at 6.
constexpr float kDepthwiseGain = 1.5f;
/// Scale of the last normalization of a branch that is added to its input: branches stay small in the sum.
constexpr float kBranchGain = 0.3f;

ValueId conv_norm_relu6(GraphBuilder& net, const std::string& name, ValueId x, const ConvSpec& spec) {
  x = net.batch_norm(name + ".1", net.conv(name + ".0", x, spec));
  return net.relu6(name + ".2", x);
}

ValueId inverted_residual(GraphBuilder& net, const std::string& name, ValueId x, const Stage& stage,
                          int64_t stride) {
  const int64_t hidden = net.channels(x) * stage.expansion;
  int64_t index = 0;
  const auto next = [&] { return fmt::format("{}.conv.{}", name, index++); };
  ValueId y = x;
  if (stage.expansion != 1) {
    y = conv_norm_relu6(net, next(), y, {.channels = hidden, .kernel = 1, .gain = kLinearGain});
  }
  y = conv_norm_relu6(net, next(), y,
                      {.channels = hidden,
                       .kernel = 3,
                       .stride = stride,
                       .padding = 1,
                       .groups = hidden,
                       .gain = kDepthwiseGain});
  y = net.conv(next(), y, {.channels = stage.channels, .kernel = 1});
  const bool residual = stride == 1 && net.channels(x) == stage.channels;
  y = net.batch_norm(next(), y, residual ? kBranchGain : 1.0f);
  return residual ? net.add(name + ".add", x, y) : y;
}

}  // namespace

ValueId build_mobilenet_v2(GraphBuilder& net) {
  int64_t index = 0;
  const auto next = [&] { return fmt::format("features.{}", index++); };
  ValueId x =
      conv_norm_relu6(net, next(), net.input(), {.channels = 32, .kernel = 3, .stride = 2, .padding = 1});
  for (const Stage& stage : kStages) {
    for (int64_t i = 0; i < stage.repeats; ++i) {
      x = inverted_residual(net, next(), x, stage, i == 0 ? stage.stride : 1);
    }
  }
  x = conv_norm_relu6(net, next(), x, {.channels = 1280, .kernel = 1, .gain = kLinearGain});
  x = net.flatten("flatten", net.global_average_pool("avgpool", x));
  return net.linear("classifier.1", x, 1000);
}

}  // namespace hone::importer
