// See transformer.hpp.
#include "import/zoo/transformer.hpp"

#include <cmath>
#include <limits>

namespace hone::importer {
namespace {

using graph::Attributes;
using tensor::Tensor;
using Ints = std::vector<int64_t>;

Attributes axis_attribute(int64_t axis) {
  Attributes attributes;
  attributes.set("axis", axis);
  return attributes;
}

}  // namespace

ValueId dense(GraphBuilder& net, const std::string& name, ValueId x, const DenseSpec& spec) {
  const int64_t inputs = net.dim(x, -1);
  ValueId weight = graph::kNoValue;
  if (spec.by_columns) {
    const float deviation = spec.gain / std::sqrt(static_cast<float>(inputs));
    weight = net.parameter({name + ".weight", {inputs, spec.features}, Role::kEmbedding, deviation});
  } else {
    weight = net.parameter({name + ".weight", {spec.features, inputs}, Role::kFilter, spec.gain});
    weight = transpose(net, name + ".transposed", weight, {1, 0});
  }
  if (!spec.bias) return net.node("MatMul", name, {x, weight});
  const ValueId product = net.node("MatMul", name + ".matmul", {x, weight});
  return net.add(name, product, net.parameter({name + ".bias", {spec.features}, Role::kBias}));
}

ValueId layer_norm(GraphBuilder& net, const std::string& name, ValueId x, float epsilon) {
  const tensor::Shape shape{net.dim(x, -1)};
  const ValueId weight = net.parameter({name + ".weight", shape, Role::kScale});
  const ValueId bias = net.parameter({name + ".bias", shape, Role::kShift});
  Attributes attributes;
  attributes.set("epsilon", epsilon);
  return net.node("LayerNormalization", name, {x, weight, bias}, std::move(attributes));
}

ValueId rms_norm(GraphBuilder& net, const std::string& name, ValueId x, float epsilon) {
  const ValueId weight = net.parameter({name + ".weight", {net.dim(x, -1)}, Role::kScale});
  const ValueId square = net.multiply(name + ".square", x, x);
  const ValueId mean = net.node("ReduceMean", name + ".mean", {square, ints(net, name + ".axes", {-1})});
  const ValueId sum = net.add(name + ".sum", mean, scalar(net, name + ".epsilon", epsilon));
  const ValueId root = net.node("Sqrt", name + ".root", {sum});
  return net.multiply(name, net.node("Div", name + ".normalized", {x, root}), weight);
}

ValueId gelu(GraphBuilder& net, const std::string& name, ValueId x, const std::string& approximate) {
  Attributes attributes;
  attributes.set("approximate", approximate);
  return net.node("Gelu", name, {x}, std::move(attributes));
}

ValueId embedding(GraphBuilder& net, const std::string& name, ValueId ids, int64_t rows, int64_t width,
                  float deviation) {
  const ValueId table = net.parameter({name + ".weight", {rows, width}, Role::kEmbedding, deviation});
  return net.node("Gather", name, {table, ids});
}

ValueId reshape(GraphBuilder& net, const std::string& name, ValueId x, const Ints& shape) {
  return net.node("Reshape", name, {x, ints(net, name + ".shape", shape)});
}

ValueId transpose(GraphBuilder& net, const std::string& name, ValueId x, Ints perm) {
  Attributes attributes;
  attributes.set("perm", std::move(perm));
  return net.node("Transpose", name, {x}, std::move(attributes));
}

ValueId scalar(GraphBuilder& net, const std::string& name, float value) {
  return net.constant(name, Tensor::scalar(value));
}

ValueId ints(GraphBuilder& net, const std::string& name, const Ints& values) {
  const auto count = static_cast<int64_t>(values.size());
  return net.constant(name, Tensor::of<int64_t>(values, {count}));
}

ValueId size_of(GraphBuilder& net, const std::string& name, ValueId x, int64_t axis) {
  Attributes attributes;
  attributes.set("start", axis);
  attributes.set("end", axis + 1);
  return net.node("Shape", name, {x}, std::move(attributes));
}

ValueId slice(GraphBuilder& net, const std::string& name, ValueId x, ValueId start, ValueId end,
              int64_t axis) {
  return net.node("Slice", name, {x, start, end, ints(net, name + ".axes", {axis})});
}

ValueId split_heads(GraphBuilder& net, const std::string& name, ValueId x, int64_t heads) {
  const ValueId split = reshape(net, name + ".heads", x, {0, 0, heads, net.dim(x, -1) / heads});
  return transpose(net, name + ".by_head", split, {0, 2, 1, 3});
}

ValueId attend(GraphBuilder& net, const std::string& name, ValueId q, ValueId k, ValueId v, ValueId mask) {
  const int64_t heads = net.dim(q, 1);
  const int64_t depth = net.dim(q, 3);
  const ValueId keys = transpose(net, name + ".keys", k, {0, 1, 3, 2});
  const ValueId products = net.node("MatMul", name + ".products", {q, keys});
  const float factor = 1 / std::sqrt(static_cast<float>(depth));
  ValueId scores = net.multiply(name + ".scores", products, scalar(net, name + ".scale", factor));
  if (mask != graph::kNoValue) scores = net.add(name + ".masked", scores, mask);
  const ValueId shares = net.node("Softmax", name + ".softmax", {scores}, axis_attribute(-1));
  const ValueId result = net.node("MatMul", name + ".context", {shares, v});
  return reshape(net, name, transpose(net, name + ".by_row", result, {0, 2, 1, 3}),
                 {0, 0, heads * net.dim(v, 3)});
}

std::vector<Cache> cache_inputs(GraphBuilder& net, int64_t layers, int64_t heads, int64_t depth) {
  const graph::Dims dims{graph::Dim::symbol("batch"), heads, graph::Dim::symbol("past"), depth};
  std::vector<Cache> caches;
  for (int64_t layer = 0; layer < layers; ++layer) {
    const std::string name = fmt::format("past_key_values.{}", layer);
    const ValueId keys = net.input(name + ".key", tensor::DType::kFloat32, dims);
    caches.push_back({keys, net.input(name + ".value", tensor::DType::kFloat32, dims)});
  }
  return caches;
}

Cache append_to_cache(GraphBuilder& net, const std::string& name, const Cache& past, const Cache& fresh) {
  const ValueId keys = net.node("Concat", name + ".key", {past.keys, fresh.keys}, axis_attribute(2));
  return {keys, net.node("Concat", name + ".value", {past.values, fresh.values}, axis_attribute(2))};
}

void output_caches(GraphBuilder& net, std::span<const Cache> caches) {
  for (size_t layer = 0; layer < caches.size(); ++layer) {
    net.output(fmt::format("present.{}.key", layer), caches[layer].keys);
    net.output(fmt::format("present.{}.value", layer), caches[layer].values);
  }
}

ValueId causal_mask(GraphBuilder& net, ValueId past, ValueId total) {
  const auto position = [&](const std::string& name, ValueId value) {
    return net.node("Squeeze", name, {value});
  };
  const ValueId first = position("mask.first", past);
  const ValueId end = position("mask.end", total);
  const ValueId zero = net.constant("mask.zero", Tensor::scalar(int64_t{0}));
  const ValueId one = net.constant("mask.one", Tensor::scalar(int64_t{1}));
  const ValueId keys = net.node("Range", "mask.keys", {zero, end, one});
  const ValueId rows = net.node("Range", "mask.rows", {first, end, one});
  const ValueId column = net.node("Unsqueeze", "mask.column", {rows, ints(net, "mask.axes", {1})});
  const ValueId sees = net.node("LessOrEqual", "mask.sees", {keys, column});
  const ValueId allowed = scalar(net, "mask.allowed", 0.0f);
  const ValueId denied = scalar(net, "mask.denied", std::numeric_limits<float>::lowest());
  return net.node("Where", "mask", {sees, allowed, denied});
}

}  // namespace hone::importer
