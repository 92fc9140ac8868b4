// A U-Net (Ronneberger et al. 2015) with three levels and with GroupNorm and SiLU, as in diffusion models.
// It is not a published network; its parameters are down.<level>.<0|1>.{conv,norm},
// up.<level>.{upsample,0,1} and head.
#include <array>

#include "import/zoo/architectures.hpp"

namespace hone::importer {
namespace {

constexpr std::array<int64_t, 3> kChannels{64, 128, 256};
constexpr int64_t kGroups = 8;
constexpr int64_t kSide = 256;
/// SiLU of a standard normal variable has a variance of about 0.31, and a part of its mean is passed on.
constexpr float kGain = 1.6f;

ValueId conv_norm_silu(GraphBuilder& net, const std::string& root, ValueId x, int64_t channels) {
  x = net.conv(root + ".conv", x,
               {.channels = channels, .kernel = 3, .padding = 1, .bias = true, .gain = kGain});
  return net.silu(root + ".silu", net.group_norm(root + ".norm", x, kGroups));
}

ValueId level(GraphBuilder& net, const std::string& root, ValueId x, int64_t channels) {
  x = conv_norm_silu(net, root + ".0", x, channels);
  return conv_norm_silu(net, root + ".1", x, channels);
}

}  // namespace

void build_unet(GraphBuilder& net) {
  ValueId x = net.image(kSide);
  std::array<ValueId, kChannels.size()> skips{};
  for (size_t i = 0; i < kChannels.size(); ++i) {
    if (i > 0) x = net.max_pool(fmt::format("pool.{}", i), x, {.kernel = 2, .stride = 2});
    x = level(net, fmt::format("down.{}", i), x, kChannels[i]);
    skips[i] = x;
  }
  for (size_t i = kChannels.size() - 1; i-- > 0;) {
    const std::string root = fmt::format("up.{}", i);
    x = net.transposed_conv(
        root + ".upsample", x,
        {.channels = kChannels[i], .kernel = 2, .stride = 2, .bias = true, .gain = kGain});
    const std::array<ValueId, 2> parts{skips[i], x};
    x = level(net, root, net.concat(root + ".concat", parts), kChannels[i]);
  }
  net.output("output", net.conv("head", x, {.channels = 3, .kernel = 1, .bias = true, .gain = kGain}));
}

}  // namespace hone::importer
