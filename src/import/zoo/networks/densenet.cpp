// DenseNet-121 (Huang et al. 2017): every layer reads the concatenation of all layers before it.
#include "import/zoo/architectures.hpp"

namespace hone::importer {
namespace {

constexpr int64_t kGrowth = 32;
constexpr int64_t kBottleneck = 4 * kGrowth;
constexpr int64_t kDepths[] = {6, 12, 24, 16};

ValueId norm_relu(GraphBuilder& net, const std::string& stem, const std::string& number, ValueId x) {
  return net.relu(stem + "relu" + number, net.batch_norm(stem + "norm" + number, x));
}

ValueId dense_layer(GraphBuilder& net, const std::string& stem, ValueId x) {
  x = norm_relu(net, stem, "1", x);
  x = net.conv(stem + "conv1", x, {.channels = kBottleneck, .kernel = 1});
  x = norm_relu(net, stem, "2", x);
  return net.conv(stem + "conv2", x, {.channels = kGrowth, .kernel = 3, .padding = 1});
}

ValueId dense_block(GraphBuilder& net, const std::string& stem, ValueId x, int64_t depth) {
  std::vector<ValueId> parts{x};
  for (int64_t i = 1; i <= depth; ++i) {
    parts.push_back(dense_layer(net, fmt::format("{}denselayer{}.", stem, i), x));
    x = net.concat(fmt::format("{}concat{}", stem, i), parts);
  }
  return x;
}

ValueId transition(GraphBuilder& net, const std::string& stem, ValueId x) {
  const int64_t half = net.channels(x) / 2;
  x = net.conv(stem + "conv", norm_relu(net, stem, "", x), {.channels = half, .kernel = 1});
  return net.average_pool(stem + "pool", x, {.kernel = 2, .stride = 2});
}

}  // namespace

ValueId build_densenet121(GraphBuilder& net) {
  const std::string root = "features.";
  ValueId x = net.conv(root + "conv0", net.input(), {.channels = 64, .kernel = 7, .stride = 2, .padding = 3});
  x = net.max_pool(root + "pool0", norm_relu(net, root, "0", x), {.kernel = 3, .stride = 2, .padding = 1});
  for (size_t i = 0; i < std::size(kDepths); ++i) {
    if (i > 0) x = transition(net, fmt::format("{}transition{}.", root, i), x);
    x = dense_block(net, fmt::format("{}denseblock{}.", root, i + 1), x, kDepths[i]);
  }
  x = norm_relu(net, root, "5", x);
  x = net.flatten("flatten", net.global_average_pool("avgpool", x));
  return net.linear("classifier", x, 1000);
}

}  // namespace hone::importer
