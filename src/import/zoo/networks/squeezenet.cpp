// SqueezeNet 1.1 (Iandola et al. 2016).
#include "import/zoo/architectures.hpp"

namespace hone::importer {
namespace {

/// A fire module (squeeze and expand channels), or, with `squeeze` 0, a max pool.
struct Layer {
  int64_t squeeze;
  int64_t expand;
};

constexpr Layer kLayers[] = {{16, 64}, {16, 64},  {0, 0},    {32, 128}, {32, 128},
                             {0, 0},   {48, 192}, {48, 192}, {64, 256}, {64, 256}};
constexpr PoolSpec kPool{.kernel = 3, .stride = 2, .ceil_mode = true};

ValueId conv_relu(GraphBuilder& net, const std::string& name, ValueId x, const ConvSpec& spec) {
  return net.relu(name + "_activation", net.conv(name, x, spec));
}

ValueId fire(GraphBuilder& net, const std::string& name, ValueId x, const Layer& layer) {
  x = conv_relu(net, name + ".squeeze", x, {.channels = layer.squeeze, .kernel = 1, .bias = true});
  const ValueId parts[] = {
      conv_relu(net, name + ".expand1x1", x, {.channels = layer.expand, .kernel = 1, .bias = true}),
      conv_relu(net, name + ".expand3x3", x,
                {.channels = layer.expand, .kernel = 3, .padding = 1, .bias = true}),
  };
  return net.concat(name + ".concat", parts);
}

}  // namespace

ValueId build_squeezenet1_1(GraphBuilder& net) {
  int64_t index = 0;
  const auto next = [&] { return fmt::format("features.{}", index++); };
  ValueId x = net.conv(next(), net.input(), {.channels = 64, .kernel = 3, .stride = 2, .bias = true});
  x = net.relu(next(), x);
  x = net.max_pool(next(), x, kPool);
  for (const Layer& layer : kLayers) {
    x = layer.squeeze == 0 ? net.max_pool(next(), x, kPool) : fire(net, next(), x, layer);
  }
  x = net.conv("classifier.1", x, {.channels = 1000, .kernel = 1, .bias = true});
  x = net.relu("classifier.2", x);
  return net.flatten("flatten", net.global_average_pool("classifier.3", x));
}

}  // namespace hone::importer
