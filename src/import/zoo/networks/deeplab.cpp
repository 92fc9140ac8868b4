// DeepLabV3 (Chen et al. 2017) on ResNet-50.
#include <array>

#include "import/zoo/architectures.hpp"

namespace hone::importer {
namespace {

constexpr int64_t kChannels = 256;
constexpr int64_t kClasses = 21;
constexpr int64_t kDilations[] = {12, 24, 36};

ValueId conv_norm_relu(GraphBuilder& net, const std::string& root, int64_t index, ValueId x,
                       const ConvSpec& spec) {
  x = net.conv(fmt::format("{}.{}", root, index), x, spec);
  x = net.batch_norm(fmt::format("{}.{}", root, index + 1), x);
  return net.relu(fmt::format("{}.{}", root, index + 2), x);
}

/// Resizes bilinearly to `side` x `side`.
ValueId resize(GraphBuilder& net, const std::string& name, ValueId x, int64_t side) {
  graph::Attributes attributes;
  attributes.set("mode", std::string("linear"));
  attributes.set("axes", std::vector<int64_t>{2, 3});
  const ValueId sizes = net.constant(name + ".sizes", tensor::Tensor::of<int64_t>({side, side}, {2}));
  return net.node("Resize", name, {x, graph::kNoValue, graph::kNoValue, sizes}, std::move(attributes));
}

/// Atrous spatial pyramid pooling, which reads the image at several scales.
ValueId pyramid(GraphBuilder& net, const std::string& root, ValueId x) {
  std::vector<ValueId> parts;
  const auto name = [&] { return fmt::format("{}.convs.{}", root, parts.size()); };
  parts.push_back(conv_norm_relu(net, name(), 0, x, {.channels = kChannels, .kernel = 1}));
  for (const int64_t dilation : kDilations) {
    parts.push_back(conv_norm_relu(
        net, name(), 0, x, {.channels = kChannels, .kernel = 3, .padding = dilation, .dilation = dilation}));
  }
  const ValueId mean = net.global_average_pool(name() + ".0", x);
  const ValueId whole = conv_norm_relu(net, name(), 1, mean, {.channels = kChannels, .kernel = 1});
  parts.push_back(resize(net, name(), whole, net.dim(x, 2)));
  return conv_norm_relu(net, root + ".project", 0, net.concat(root + ".concat", parts),
                        {.channels = kChannels, .kernel = 1});
}

}  // namespace

void build_deeplabv3_resnet50(GraphBuilder& net) {
  const ValueId image = net.image(224);
  ValueId x = pyramid(net, "classifier.0", dilated_resnet50(net, "backbone.", image));
  x = conv_norm_relu(net, "classifier", 1, x, {.channels = kChannels, .kernel = 3, .padding = 1});
  x = net.conv("classifier.4", x, {.channels = kClasses, .kernel = 1, .bias = true});
  net.output("out", resize(net, "resize", x, net.dim(image, 2)));
}

}  // namespace hone::importer
