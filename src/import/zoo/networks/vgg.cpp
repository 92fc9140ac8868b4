// AlexNet (Krizhevsky 2014, "One weird trick", as in torchvision) and VGG-16 (Simonyan and Zisserman 2015):
// a chain of convolutions and pools, then three linear layers. At 224 x 224, the input of torchvision's
// adaptive average pool already has its output size, so the pool is left out here.
#include "import/zoo/architectures.hpp"

namespace hone::importer {
namespace {

/// A convolution with bias and ReLU, or, with `channels` 0, a max pool.
struct Layer {
  int64_t channels;
  int64_t kernel;
  int64_t stride = 1;
  int64_t padding = 0;
};

constexpr Layer kAlexNet[] = {{64, 11, 4, 2}, {0, 3, 2},      {192, 5, 1, 2}, {0, 3, 2},
                              {384, 3, 1, 1}, {256, 3, 1, 1}, {256, 3, 1, 1}, {0, 3, 2}};

constexpr Layer kVgg16[] = {{64, 3, 1, 1},  {64, 3, 1, 1},  {0, 2, 2},      {128, 3, 1, 1}, {128, 3, 1, 1},
                            {0, 2, 2},      {256, 3, 1, 1}, {256, 3, 1, 1}, {256, 3, 1, 1}, {0, 2, 2},
                            {512, 3, 1, 1}, {512, 3, 1, 1}, {512, 3, 1, 1}, {0, 2, 2},      {512, 3, 1, 1},
                            {512, 3, 1, 1}, {512, 3, 1, 1}, {0, 2, 2}};

ValueId features(GraphBuilder& net, std::span<const Layer> layers) {
  int64_t index = 0;
  const auto next = [&] { return fmt::format("features.{}", index++); };
  ValueId x = net.input();
  for (const Layer& layer : layers) {
    if (layer.channels == 0) {
      x = net.max_pool(next(), x, {.kernel = layer.kernel, .stride = layer.stride});
      continue;
    }
    x = net.conv(next(), x,
                 {.channels = layer.channels,
                  .kernel = layer.kernel,
                  .stride = layer.stride,
                  .padding = layer.padding,
                  .bias = true});
    x = net.relu(next(), x);
  }
  return net.flatten("flatten", x);
}

}  // namespace

ValueId build_alexnet(GraphBuilder& net) {
  ValueId x = features(net, kAlexNet);
  x = net.relu("classifier.2", net.linear("classifier.1", x, 4096));
  x = net.relu("classifier.5", net.linear("classifier.4", x, 4096));
  return net.linear("classifier.6", x, 1000);
}

ValueId build_vgg16(GraphBuilder& net) {
  ValueId x = features(net, kVgg16);
  x = net.relu("classifier.1", net.linear("classifier.0", x, 4096));
  x = net.relu("classifier.4", net.linear("classifier.3", x, 4096));
  return net.linear("classifier.6", x, 1000);
}

}  // namespace hone::importer
