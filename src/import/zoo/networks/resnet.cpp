// ResNet (He et al. 2016), with the stride in the 3x3 convolution of a bottleneck, as in torchvision.
#include "import/zoo/architectures.hpp"

namespace hone::importer {
namespace {

constexpr int64_t kStages = 4;
/// Scale of the last normalization of a branch. Branches add up, so each must be small in the sum.
constexpr float kBranchGain = 0.3f;

ValueId conv_norm(GraphBuilder& net, const std::string& block, int index, ValueId x, const ConvSpec& spec,
                  float gain = 1.0f) {
  const std::string number = std::to_string(index);
  x = net.conv(block + ".conv" + number, x, spec);
  return net.batch_norm(block + ".bn" + number, x, gain);
}

ValueId shortcut(GraphBuilder& net, const std::string& block, ValueId x, int64_t channels, int64_t stride) {
  if (stride == 1 && net.channels(x) == channels) return x;
  x = net.conv(block + ".downsample.0", x, {.channels = channels, .kernel = 1, .stride = stride});
  return net.batch_norm(block + ".downsample.1", x);
}

ValueId join(GraphBuilder& net, const std::string& block, const std::string& relu, ValueId branch,
             ValueId identity) {
  return net.relu(block + relu, net.add(block + ".add", branch, identity));
}

ValueId basic_block(GraphBuilder& net, const std::string& block, ValueId x, int64_t planes, int64_t stride) {
  const ConvSpec first{.channels = planes, .kernel = 3, .stride = stride, .padding = 1};
  ValueId y = net.relu(block + ".relu1", conv_norm(net, block, 1, x, first));
  y = conv_norm(net, block, 2, y, {.channels = planes, .kernel = 3, .padding = 1}, kBranchGain);
  return join(net, block, ".relu2", y, shortcut(net, block, x, planes, stride));
}

ValueId dilated_bottleneck(GraphBuilder& net, const std::string& block, ValueId x, int64_t planes,
                           int64_t stride, int64_t dilation) {
  const ConvSpec second{
      .channels = planes, .kernel = 3, .stride = stride, .padding = dilation, .dilation = dilation};
  ValueId y = net.relu(block + ".relu1", conv_norm(net, block, 1, x, {.channels = planes, .kernel = 1}));
  y = net.relu(block + ".relu2", conv_norm(net, block, 2, y, second));
  y = conv_norm(net, block, 3, y, {.channels = 4 * planes, .kernel = 1}, kBranchGain);
  return join(net, block, ".relu3", y, shortcut(net, block, x, 4 * planes, stride));
}

ValueId bottleneck(GraphBuilder& net, const std::string& block, ValueId x, int64_t planes, int64_t stride) {
  return dilated_bottleneck(net, block, x, planes, stride, 1);
}

ValueId stem(GraphBuilder& net, const std::string& prefix, ValueId x) {
  x = net.conv(prefix + "conv1", x, {.channels = 64, .kernel = 7, .stride = 2, .padding = 3});
  x = net.relu(prefix + "relu", net.batch_norm(prefix + "bn1", x));
  return net.max_pool(prefix + "maxpool", x, {.kernel = 3, .stride = 2, .padding = 1});
}

using Block = ValueId (*)(GraphBuilder&, const std::string&, ValueId, int64_t planes, int64_t stride);

ValueId resnet(GraphBuilder& net, Block block, const int64_t (&depths)[kStages]) {
  ValueId x = stem(net, "", net.input());
  for (int64_t stage = 0; stage < kStages; ++stage) {
    for (int64_t i = 0; i < depths[stage]; ++i) {
      const std::string name = fmt::format("layer{}.{}", stage + 1, i);
      x = block(net, name, x, 64 << stage, stage > 0 && i == 0 ? 2 : 1);
    }
  }
  x = net.flatten("flatten", net.global_average_pool("avgpool", x));
  return net.linear("fc", x, 1000);
}

}  // namespace

ValueId build_resnet18(GraphBuilder& net) { return resnet(net, basic_block, {2, 2, 2, 2}); }
ValueId build_resnet34(GraphBuilder& net) { return resnet(net, basic_block, {3, 4, 6, 3}); }
ValueId build_resnet50(GraphBuilder& net) { return resnet(net, bottleneck, {3, 4, 6, 3}); }
ValueId build_resnet101(GraphBuilder& net) { return resnet(net, bottleneck, {3, 4, 23, 3}); }

ValueId dilated_resnet50(GraphBuilder& net, const std::string& prefix, ValueId image) {
  constexpr int64_t kDepths[] = {3, 4, 6, 3};
  ValueId x = stem(net, prefix, image);
  int64_t dilation = 1;
  for (int64_t stage = 0; stage < kStages; ++stage) {
    for (int64_t i = 0; i < kDepths[stage]; ++i) {
      // The first block of a dilated stage has the dilation of the previous stage.
      const bool first = i == 0;
      const int64_t stride = stage == 1 && first ? 2 : 1;
      const std::string name = fmt::format("{}layer{}.{}", prefix, stage + 1, i);
      x = dilated_bottleneck(net, name, x, 64 << stage, stride, dilation);
      if (first && stage >= 2) dilation *= 2;
    }
  }
  return x;
}

}  // namespace hone::importer
