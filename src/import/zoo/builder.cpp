// See builder.hpp.
#include "import/zoo/builder.hpp"

#include <cmath>

#include "graph/infer.hpp"
#include "graph/operator.hpp"

namespace hone::importer {
namespace {

using graph::Attributes;
using graph::Dim;
using Ints = std::vector<int64_t>;

Attributes window(int64_t kernel, int64_t stride, int64_t padding) {
  Attributes attributes;
  attributes.set("kernel_shape", Ints{kernel, kernel});
  attributes.set("strides", Ints{stride, stride});
  attributes.set("pads", Ints(4, padding));
  return attributes;
}

Attributes pool_window(const PoolSpec& spec) {
  Attributes attributes = window(spec.kernel, spec.stride, spec.padding);
  attributes.set("ceil_mode", int64_t{spec.ceil_mode});
  return attributes;
}

}  // namespace

GraphBuilder::GraphBuilder(std::string model, const FilterSeeding& seeding, WeightSource& weights)
    : seeding_(seeding), weights_(weights) {
  graph_.name = std::move(model);
}

ValueId GraphBuilder::input(const std::string& name, tensor::DType dtype, graph::Dims dims) {
  graph_.inputs.push_back(graph_.add_value(name, {dtype, std::move(dims)}));
  return graph_.inputs.back();
}

ValueId GraphBuilder::image(int64_t side) {
  return input("input", tensor::DType::kFloat32, {Dim::symbol("batch"), 3, side, side});
}

void GraphBuilder::output(const std::string& name, ValueId x) {
  graph_.value(x).name = name;
  graph_.outputs.push_back(x);
}

ValueId GraphBuilder::conv(const std::string& name, ValueId x, const ConvSpec& spec) {
  // A depthwise filter without its mean would pass on mostly noise.
  const bool depthwise = spec.groups == channels(x) && spec.groups > 1;
  const int mean_part = x == input() || depthwise ? 0 : seeding_.mean_part;
  const float gain = spec.gain.value_or(seeding_.rectified_gain);
  const tensor::Shape shape{spec.channels, channels(x) / spec.groups, spec.kernel, spec.kernel};
  std::vector<ValueId> inputs{x, parameter({name + ".weight", shape, Role::kFilter, gain, mean_part})};
  if (spec.bias) inputs.push_back(parameter({name + ".bias", {spec.channels}, Role::kBias}));
  Attributes attributes = window(spec.kernel, spec.stride, spec.padding);
  attributes.set("group", spec.groups);
  if (spec.dilation != 1) attributes.set("dilations", Ints{spec.dilation, spec.dilation});
  return node("Conv", name, std::move(inputs), std::move(attributes));
}

ValueId GraphBuilder::transposed_conv(const std::string& name, ValueId x, const ConvSpec& spec) {
  // The weight is [inputs, outputs, kernel, kernel], so it is seeded by the number of terms of one sum.
  const int64_t overlaps = (spec.kernel / spec.stride) * (spec.kernel / spec.stride);
  const auto terms = static_cast<float>(channels(x) * overlaps);
  const float deviation = spec.gain.value_or(seeding_.rectified_gain) / std::sqrt(terms);
  const tensor::Shape shape{channels(x), spec.channels, spec.kernel, spec.kernel};
  std::vector<ValueId> inputs{x, parameter({name + ".weight", shape, Role::kEmbedding, deviation})};
  if (spec.bias) inputs.push_back(parameter({name + ".bias", {spec.channels}, Role::kBias}));
  return node("ConvTranspose", name, std::move(inputs), window(spec.kernel, spec.stride, spec.padding));
}

ValueId GraphBuilder::batch_norm(const std::string& name, ValueId x, float gain, float epsilon) {
  const tensor::Shape shape{channels(x)};
  std::vector<ValueId> inputs{x};
  inputs.push_back(parameter({name + ".weight", shape, Role::kScale, gain}));
  inputs.push_back(parameter({name + ".bias", shape, Role::kShift}));
  inputs.push_back(parameter({name + ".running_mean", shape, Role::kMean}));
  inputs.push_back(parameter({name + ".running_var", shape, Role::kVariance}));
  Attributes attributes;
  attributes.set("epsilon", epsilon);
  return node("BatchNormalization", name, std::move(inputs), std::move(attributes));
}

ValueId GraphBuilder::group_norm(const std::string& name, ValueId x, int64_t groups) {
  const ValueId weight = parameter({name + ".weight", {channels(x)}, Role::kScale});
  const ValueId bias = parameter({name + ".bias", {channels(x)}, Role::kShift});
  Attributes attributes;
  attributes.set("num_groups", groups);
  attributes.set("epsilon", 1e-5f);
  return node("GroupNormalization", name, {x, weight, bias}, std::move(attributes));
}

ValueId GraphBuilder::linear(const std::string& name, ValueId x, int64_t features) {
  const ValueId weight = parameter({name + ".weight",
                                    {features, channels(x)},
                                    Role::kFilter,
                                    seeding_.rectified_gain,
                                    seeding_.mean_part});
  const ValueId bias = parameter({name + ".bias", {features}, Role::kBias});
  Attributes attributes;
  attributes.set("transB", int64_t{1});
  return node("Gemm", name, {x, weight, bias}, std::move(attributes));
}

ValueId GraphBuilder::relu(const std::string& name, ValueId x) { return node("Relu", name, {x}); }

ValueId GraphBuilder::relu6(const std::string& name, ValueId x) {
  if (zero_ == graph::kNoValue) {
    zero_ = graph_.add_constant("relu6.min", tensor::Tensor::scalar(0.0f));
    six_ = graph_.add_constant("relu6.max", tensor::Tensor::scalar(6.0f));
  }
  return node("Clip", name, {x, zero_, six_});
}

ValueId GraphBuilder::sigmoid(const std::string& name, ValueId x) { return node("Sigmoid", name, {x}); }

ValueId GraphBuilder::silu(const std::string& name, ValueId x) {
  return multiply(name, x, sigmoid(name + ".sigmoid", x));
}

ValueId GraphBuilder::add(const std::string& name, ValueId a, ValueId b) { return node("Add", name, {a, b}); }

ValueId GraphBuilder::multiply(const std::string& name, ValueId a, ValueId b) {
  return node("Mul", name, {a, b});
}

ValueId GraphBuilder::concat(const std::string& name, std::span<const ValueId> parts) {
  Attributes attributes;
  attributes.set("axis", int64_t{1});
  return node("Concat", name, {parts.begin(), parts.end()}, std::move(attributes));
}

ValueId GraphBuilder::max_pool(const std::string& name, ValueId x, const PoolSpec& spec) {
  return node("MaxPool", name, {x}, pool_window(spec));
}

ValueId GraphBuilder::average_pool(const std::string& name, ValueId x, const PoolSpec& spec) {
  return node("AveragePool", name, {x}, pool_window(spec));
}

ValueId GraphBuilder::global_average_pool(const std::string& name, ValueId x) {
  return node("GlobalAveragePool", name, {x});
}

ValueId GraphBuilder::flatten(const std::string& name, ValueId x) { return node("Flatten", name, {x}); }

graph::Graph GraphBuilder::finish() {
  weights_.finish();
  return std::move(graph_);
}

ValueId GraphBuilder::node(std::string op, const std::string& name, std::vector<ValueId> inputs,
                           Attributes attributes) {
  const ValueId result = nodes(std::move(op), name, std::move(inputs), 1, std::move(attributes)).front();
  graph_.value(result).name = name;
  return result;
}

std::vector<ValueId> GraphBuilder::nodes(std::string op, const std::string& name, std::vector<ValueId> inputs,
                                         size_t outputs, Attributes attributes) {
  graph::Node result{name, std::move(op), std::move(attributes), std::move(inputs), {}, {name}};
  for (size_t i = 0; i < outputs; ++i)
    result.outputs.push_back(graph_.add_value(fmt::format("{}.{}", name, i)));
  graph::complete_node(result);
  graph::infer_node(graph_, result);
  return graph_.add_node(std::move(result)).outputs;
}

ValueId GraphBuilder::parameter(ParameterSpec spec) {
  tensor::Tensor tensor = weights_.make(spec);
  return graph_.add_constant(std::move(spec.name), std::move(tensor));
}

ValueId GraphBuilder::constant(const std::string& name, tensor::Tensor tensor) {
  return graph_.add_constant(name, std::move(tensor));
}

int64_t GraphBuilder::dim(ValueId x, int64_t axis) const {
  const graph::TensorType& type = graph_.value(x).type;
  const auto rank = type.ranked() ? static_cast<int64_t>(type.dims->size()) : 0;
  const int64_t index = axis < 0 ? rank + axis : axis;
  if (index < 0 || index >= rank || !(*type.dims)[static_cast<size_t>(index)].known())
    fail_internal("{}: dimension {} of '{}' is not known", graph_.name, axis, graph_.value(x).name);
  return (*type.dims)[static_cast<size_t>(index)].value();
}

}  // namespace hone::importer
