// Sections with weights: convolutional, connected, batchnorm.
#include <algorithm>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "import/darknet/activation.hpp"
#include "import/darknet/limits.hpp"
#include "import/darknet/network.hpp"

namespace hone::importer::darknet {
namespace {

constexpr float kEpsilon = 1e-5f;
constexpr float kPjreddieEpsilon = 1e-6f;

/// Batch normalization of x. In the file, the bias is before the scale. The program of pjreddie divides by
/// sqrt(variance) + 1e-6; here the square of this divisor is used as the variance.
struct Normalization {
  Rules rules;

  ValueId write(Emission& e, ValueId x, ValueId scale, ValueId bias, ValueId mean, ValueId variance) const {
    graph::Attributes attributes;
    attributes.set("epsilon", rules == Rules::kPjreddie ? 0.0f : kEpsilon);
    if (rules == Rules::kPjreddie) {
      const ValueId root = e.net.node("Sqrt", e.part("deviation"), {variance});
      const ValueId divisor =
          e.net.node("Add", e.part("divisor"), {root, e.number("bn_epsilon", kPjreddieEpsilon)});
      variance = e.net.node("Mul", e.part("variance"), {divisor, divisor});
    }
    return e.net.node("BatchNormalization", e.part("bn"), {x, scale, bias, mean, variance},
                      std::move(attributes));
  }
};

ValueId filled(Emission& e, const char* suffix, int64_t count, float value) {
  return e.net.constant(e.part(suffix), tensor::Tensor::of<float>(
                                            std::vector<float>(static_cast<size_t>(count), value), {count}));
}

/// Scale, mean and variance from the file, or, with dontloadscales=1, the initial values of darknet.
struct Statistics {
  bool in_file = true;
  size_t first = 0;  ///< of Layer::parameters

  ValueId normalize(Emission& e, ValueId x, int64_t channels, ValueId bias, const Normalization& how) const {
    if (in_file)
      return how.write(e, x, e.parameters[first], bias, e.parameters[first + 1], e.parameters[first + 2]);
    return how.write(e, x, filled(e, "scales", channels, 1), bias, filled(e, "rolling_mean", channels, 0),
                     filled(e, "rolling_variance", channels, 0));
  }
};

void add_statistics(const SectionContext& context, Layer* layer, int64_t channels) {
  add_parameter(context, layer, "scales", {channels}, Role::kScale);
  add_parameter(context, layer, "rolling_mean", {channels}, Role::kMean);
  add_parameter(context, layer, "rolling_variance", {channels}, Role::kVariance);
}

void refuse_options(Options& options, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (options.number(name, 0) != 0) fail_bad_input("hone has no '{}'", name);
  }
}

struct Convolution {
  int64_t filters;
  int64_t channels;
  int64_t groups;
  int64_t size;
  int64_t stride_x;
  int64_t stride_y;
  int64_t dilation;
  int64_t padding;
  bool normalized;
  bool flipped;
  Statistics statistics;
  Normalization normalization;
  Activation activation;

  ValueId filter(Emission& e) const {
    const ValueId weights = e.parameters.back();
    if (!flipped) return weights;
    graph::Attributes attributes;
    attributes.set("perm", std::vector<int64_t>{1, 0});
    const ValueId turned = e.net.node("Transpose", e.part("turned"), {weights}, std::move(attributes));
    return e.reshape("filter", turned, {filters, channels / groups, size, size});
  }

  ValueId write(Emission& e) const {
    graph::Attributes attributes;
    attributes.set("kernel_shape", std::vector<int64_t>{size, size});
    attributes.set("strides", std::vector<int64_t>{stride_y, stride_x});
    attributes.set("pads", std::vector<int64_t>(4, padding * dilation));
    attributes.set("group", groups);
    if (dilation != 1) attributes.set("dilations", std::vector<int64_t>{dilation, dilation});
    const ValueId bias = e.parameters.front();
    std::vector<ValueId> inputs{e.x, filter(e)};
    if (!normalized) inputs.push_back(bias);
    const ValueId sums = e.net.node("Conv", e.part("conv"), std::move(inputs), std::move(attributes));
    const ValueId result = normalized ? statistics.normalize(e, sums, filters, bias, normalization) : sums;
    return activated(e, result, activation);
  }
};

int64_t positive(Options& options, std::string_view key, int otherwise) {
  const int value = options.integer(key, otherwise);
  require_between(key, value, 1, kMaxSize);
  return value;
}

/// The size formula of darknet ignores the dilation, so further outputs would be read from outside the image.
void check_dilation(const Convolution& c, const Layer& layer) {
  if (c.dilation == 1) return;
  const auto reach = [&](int64_t in, int64_t stride) {
    return (in + 2 * c.padding * c.dilation - c.dilation * (c.size - 1) - 1) / stride + 1;
  };
  if (reach(layer.in.height, c.stride_y) != layer.out.height ||
      reach(layer.in.width, c.stride_x) != layer.out.width)
    fail_bad_input("dilation={} does not go with a padding of {}: darknet's size of the result is another",
                   c.dilation, c.padding);
}

void read_convolutional(SectionContext& context, Layer* layer) {
  Options& options = context.options;
  require_image(*layer);
  refuse_options(options, {"cbn", "xnor", "binary", "bin_output", "antialiasing", "sway", "rotate", "stretch",
                           "stretch_sway", "assisted_excitation", "coordconv", "reverse"});
  if (options.has("share_index")) fail_bad_input("hone has no 'share_index'");
  Convolution c{};
  c.filters = positive(options, "filters", 1);
  c.channels = layer->in.channels;
  c.groups = positive(options, "groups", 1);
  c.size = positive(options, "size", 1);
  // A stride below 1 is treated as not given.
  const int stride = options.integer("stride", 1);
  const int across = options.integer("stride_x", -1);
  const int down = options.integer("stride_y", -1);
  c.stride_x = across < 1 ? stride : across;
  c.stride_y = down < 1 ? stride : down;
  require_between("stride", std::min(c.stride_x, c.stride_y), 1, kMaxSize);
  c.dilation = positive(options, "dilation", 1);
  if (c.size == 1) c.dilation = 1;
  c.padding = options.integer("padding", 0);
  if (options.integer("pad", 0) != 0) c.padding = c.size / 2;
  require_between("padding", c.padding, 0, kMaxSize);
  c.normalized = options.integer("batch_normalize", 0) != 0;
  c.flipped = options.integer("flipped", 0) != 0;
  c.statistics = {options.integer("dontloadscales", 0) == 0, 1};
  c.normalization = {context.rules};
  c.activation = activation_of(context, "logistic");
  if (c.channels % c.groups != 0 || c.filters % c.groups != 0)
    fail_bad_input("groups={} divides {} channels and {} filters unevenly", c.groups, c.channels, c.filters);
  const auto after = [&](int64_t in, int64_t step) {
    const int64_t room = in + 2 * c.padding - c.size;
    return room < 0 ? 0 : room / step + 1;
  };
  set_out(layer, c.filters, after(layer->in.height, c.stride_y), after(layer->in.width, c.stride_x));
  check_dilation(c, *layer);

  add_parameter(context, layer, "biases", {c.filters}, Role::kBias);
  if (c.normalized && c.statistics.in_file) add_statistics(context, layer, c.filters);
  const int64_t inner = c.channels / c.groups;
  const tensor::Shape filter{c.filters, inner, c.size, c.size};
  const tensor::Shape turned{base::checked_mul(inner, c.size * c.size), c.filters};
  add_parameter(context, layer, "weights", c.flipped ? turned : filter, Role::kFilter, gain_of(c.activation));
  layer->emit = [c](Emission& e) { return c.write(e); };
}

struct Connection {
  int64_t inputs;
  int64_t outputs;
  bool normalized;
  bool transposed;
  Statistics statistics;
  Normalization normalization;
  Activation activation;

  ValueId write(Emission& e) const {
    const ValueId bias = e.parameters[0];
    graph::Attributes attributes;
    attributes.set("transB", int64_t{!transposed});
    std::vector<ValueId> operands{e.reshape("flat", e.x, {0, inputs}), e.parameters[1]};
    if (!normalized) operands.push_back(bias);
    ValueId result = e.net.node("Gemm", e.part("gemm"), std::move(operands), std::move(attributes));
    if (normalized) result = statistics.normalize(e, result, outputs, bias, normalization);
    return activated(e, e.reshape("image", result, {0, outputs, 1, 1}), activation);
  }
};

void read_connected(SectionContext& context, Layer* layer) {
  Options& options = context.options;
  Connection c{};
  c.inputs = layer->in.size();
  c.outputs = positive(options, "output", 1);
  c.normalized = options.integer("batch_normalize", 0) != 0;
  c.transposed = context.transposed;
  c.statistics = {options.integer("dontloadscales", 0) == 0, 2};
  c.normalization = {context.rules};
  c.activation = activation_of(context, "logistic");
  set_out(layer, c.outputs, 1, 1);
  const tensor::Shape rows{c.outputs, c.inputs};
  const tensor::Shape columns{c.inputs, c.outputs};
  add_parameter(context, layer, "biases", {c.outputs}, Role::kBias);
  add_parameter(context, layer, "weights", c.transposed ? columns : rows, Role::kFilter,
                gain_of(c.activation));
  // After the weights, unlike in a convolution.
  if (c.normalized && c.statistics.in_file) add_statistics(context, layer, c.outputs);
  layer->emit = [c](Emission& e) { return c.write(e); };
}

void read_batchnorm(SectionContext& context, Layer* layer) {
  require_image(*layer);
  const int64_t channels = layer->in.channels;
  set_out(layer, channels, layer->in.height, layer->in.width);
  const Normalization how{context.rules};
  // Files of pjreddie's program have no bias here.
  const bool biased = context.rules != Rules::kPjreddie;
  if (biased) add_parameter(context, layer, "biases", {channels}, Role::kShift);
  add_statistics(context, layer, channels);
  layer->emit = [how, biased, channels](Emission& e) {
    const ValueId bias = biased ? e.parameters[0] : filled(e, "biases", channels, 0);
    return Statistics{true, biased ? size_t{1} : 0}.normalize(e, e.x, channels, bias, how);
  };
}

}  // namespace

std::vector<SectionKind> convolution_sections() {
  return {{"convolutional", read_convolutional},
          {"conv", read_convolutional},
          {"connected", read_connected},
          {"conn", read_connected},
          {"batchnorm", read_batchnorm}};
}

}  // namespace hone::importer::darknet
