// ConvNeXt-T (Liu et al. 2022).
#include "import/zoo/architectures.hpp"
#include "import/zoo/transformer.hpp"

namespace hone::importer {
namespace {

struct Stage {
  int64_t depth;
  int64_t channels;
};

constexpr Stage kStages[] = {{3, 96}, {3, 192}, {9, 384}, {3, 768}};
constexpr float kEpsilon = 1e-6f;
/// Scale of a block, whose result is added to its input.
constexpr float kBranchGain = 0.4f;

/// Normalizes over the channels of [batch, channels, height, width].
ValueId norm(GraphBuilder& net, const std::string& name, ValueId x) {
  x = layer_norm(net, name, transpose(net, name + ".last", x, {0, 2, 3, 1}), kEpsilon);
  return transpose(net, name + ".first", x, {0, 3, 1, 2});
}

ValueId block(GraphBuilder& net, const std::string& root, ValueId x) {
  const int64_t channels = net.channels(x);
  ValueId y = net.conv(root + ".block.0", x,
                       {.channels = channels,
                        .kernel = 7,
                        .padding = 3,
                        .groups = channels,
                        .bias = true,
                        .gain = kLinearGain});
  y = layer_norm(net, root + ".block.2", transpose(net, root + ".block.1", y, {0, 2, 3, 1}), kEpsilon);
  y = gelu(net, root + ".block.4", dense(net, root + ".block.3", y, {.features = 4 * channels}));
  y = dense(net, root + ".block.5", y, {.features = channels});
  y = transpose(net, root + ".block.6", y, {0, 3, 1, 2});
  const ValueId scale = net.parameter({root + ".layer_scale", {channels, 1, 1}, Role::kScale, kBranchGain});
  return net.add(root + ".add", net.multiply(root + ".scaled", y, scale), x);
}

}  // namespace

ValueId build_convnext_tiny(GraphBuilder& net) {
  const ConvSpec stem{
      .channels = kStages[0].channels, .kernel = 4, .stride = 4, .bias = true, .gain = kLinearGain};
  ValueId x = norm(net, "features.0.1", net.conv("features.0.0", net.input(), stem));
  int64_t index = 1;
  for (const Stage& stage : kStages) {
    if (index > 1) {
      const std::string root = fmt::format("features.{}", index++);
      x = net.conv(root + ".1", norm(net, root + ".0", x),
                   {.channels = stage.channels, .kernel = 2, .stride = 2, .bias = true, .gain = kLinearGain});
    }
    for (int64_t i = 0; i < stage.depth; ++i) x = block(net, fmt::format("features.{}.{}", index, i), x);
    ++index;
  }
  x = norm(net, "classifier.0", net.global_average_pool("avgpool", x));
  return dense(net, "classifier.2", net.flatten("classifier.1", x), {.features = 1000});
}

}  // namespace hone::importer
