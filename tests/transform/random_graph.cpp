// See random_graph.hpp.
#include "transform/random_graph.hpp"

#include <cmath>

namespace hone::test {
namespace {

using Ints = std::vector<int64_t>;

}  // namespace

ValueId RandomGraph::gelu(ValueId x) {
  const ValueId gate =
      b_.node("Add", {b_.node("Erf", {b_.node("Div", {x, b_.scalar(std::sqrt(2.0f))})}), b_.scalar(1)});
  return b_.node("Mul", {b_.node("Mul", {x, gate}), b_.scalar(0.5f)});
}

ValueId RandomGraph::activation(ValueId x) {
  switch (pick(11)) {
    case 0: return b_.node("Relu", {x});
    case 1: return b_.node("Clip", {x, b_.scalar(0), b_.scalar(6)});
    case 2: return b_.node("Sigmoid", {x});
    case 3: return b_.node("Tanh", {x});
    case 4: return b_.node("LeakyRelu", {x}, {{"alpha", 0.1f}});
    case 5: return b_.node("Mul", {x, b_.node("Sigmoid", {x})});
    case 6: return b_.node("Mul", {x, b_.node("HardSigmoid", {x}, {{"alpha", 1.0f / 6}, {"beta", 0.5f}})});
    case 7: return b_.node("Mul", {x, b_.node("Tanh", {b_.node("Softplus", {x})})});
    case 8: return gelu(x);
    case 9: return b_.node("Max", {x, b_.scalar(0)});
    default: return b_.node("Relu", {b_.node("Relu", {x})});
  }
}

ValueId RandomGraph::layer_norm(ValueId x, int64_t width) {
  const ValueId difference = b_.node("Sub", {x, b_.node("ReduceMean", {x, b_.ints({-1})})});
  const ValueId variance = b_.node("ReduceMean", {b_.node("Mul", {difference, difference}), b_.ints({-1})});
  const ValueId root = b_.node("Sqrt", {b_.node("Add", {variance, b_.scalar(1e-2f)})});
  const ValueId scaled = b_.node("Mul", {b_.node("Div", {difference, root}), b_.random({width}, 0.5, 1.5)});
  return b_.node("Add", {scaled, b_.random({width})});
}

RandomGraph::Feature RandomGraph::convolution(const Feature& x) {
  const int64_t in = x.shape[0];
  const bool depthwise = chance(25);
  const int64_t out = depthwise ? in : 2 + 2 * pick(4);
  const int64_t kernel = chance(50) ? 1 : 3;
  ValueId y = x.id;
  if (kernel == 3 && chance(30)) {
    y = b_.node("Pad", {y, b_.ints({0, 0, 1, 1, 0, 0, 1, 1})});
    y = b_.node("Conv", {y, b_.random({out, depthwise ? 1 : in, 3, 3}, -0.5, 0.5)},
                {{"group", depthwise ? in : 1}});
  } else {
    y = b_.conv(y, in, out, kernel, depthwise ? in : 1);
  }
  if (chance(50)) y = b_.batch_norm(y, out);
  if (chance(20)) y = b_.node("Add", {y, b_.random({out, 1, 1})});
  if (chance(10)) y = b_.node("Mul", {b_.random({1, out, 1, 1}), y});
  return {y, {out, x.shape[1], x.shape[2]}};
}

/// A step that changes nothing, written in one of many ways.
RandomGraph::Feature RandomGraph::nothing(const Feature& x) {
  const auto rank = static_cast<int64_t>(x.shape.size()) + 1;
  switch (pick(6)) {
    case 0: return {b_.node("Identity", {x.id}), x.shape};
    case 1: return {b_.node("Dropout", {x.id}), x.shape};
    case 2: return {b_.node("Add", {x.id, b_.scalar(0)}), x.shape};
    case 3: return {b_.node("Squeeze", {b_.node("Unsqueeze", {x.id, b_.ints({1})}), b_.ints({1})}), x.shape};
    case 4: {
      const ValueId flat = b_.node("Flatten", {x.id});
      const ValueId batch = b_.node("Gather", {b_.node("Shape", {x.id}), b_.ints({0})});
      const ValueId shape = b_.node("Concat", {batch, b_.ints(x.shape)}, {{"axis", int64_t{0}}});
      return {b_.node("Reshape", {flat, shape}), x.shape};
    }
    default: {
      Ints perm;
      for (int64_t i = 0; i < rank; ++i) perm.push_back(i);
      std::swap(perm[1], perm.back());
      const ValueId turned = b_.node("Transpose", {x.id}, {{"perm", perm}});
      const ValueId inner = chance(50) ? b_.node("Relu", {turned}) : turned;
      return {b_.node("Transpose", {inner}, {{"perm", perm}}), x.shape};
    }
  }
}

RandomGraph::Feature RandomGraph::image_step(const Feature& x) {
  switch (pick(7)) {
    case 0: return {activation(x.id), x.shape};
    case 1: return nothing(x);
    case 2: {
      const int64_t stride = chance(40) ? 2 : 1;
      const ValueId y = b_.node(
          chance(50) ? "MaxPool" : "AveragePool", {x.id},
          {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{stride, stride}}});
      return {y, {x.shape[0], (x.shape[1] - 1) / stride + 1, (x.shape[2] - 1) / stride + 1}};
    }
    case 3: {  // squeeze and excitation
      ValueId gate = b_.node("ReduceMean", {x.id, b_.ints({2, 3})});
      if (chance(60)) gate = b_.node("Relu", {b_.conv(gate, x.shape[0], x.shape[0], 1)});
      gate = b_.node("Sigmoid", {b_.conv(gate, x.shape[0], x.shape[0], 1)});
      return {b_.node("Mul", {x.id, gate}), x.shape};
    }
    case 4: return {b_.batch_norm(x.id, x.shape[0]), x.shape};
    default: return convolution(x);
  }
}

RandomGraph::Feature RandomGraph::attention(const Feature& x) {
  const int64_t width = x.shape[1];
  const ValueId query = b_.node("MatMul", {x.id, b_.random({width, width}, -0.5, 0.5)});
  const ValueId key = b_.node("MatMul", {x.id, b_.random({width, width}, -0.5, 0.5)});
  const ValueId turned = b_.node("Transpose", {key}, {{"perm", Ints{0, 2, 1}}});
  ValueId scores = b_.node("MatMul", {query, turned});
  scores = b_.node("Div", {scores, b_.scalar(std::sqrt(static_cast<float>(width)))});
  if (chance(50)) scores = b_.node("Add", {scores, b_.random({1, x.shape[0]})});
  return {b_.node("MatMul", {b_.node("Softmax", {scores}, {{"axis", int64_t{-1}}}), x.id}), x.shape};
}

RandomGraph::Feature RandomGraph::token_step(const Feature& x) {
  switch (pick(6)) {
    case 0: return {activation(x.id), x.shape};
    case 1: return nothing(x);
    case 2: return {layer_norm(x.id, x.shape[1]), x.shape};
    case 3: return attention(x);
    default: {
      const int64_t width = chance(60) ? x.shape[1] : 4 + 2 * pick(3);
      ValueId y = b_.node("MatMul", {x.id, b_.random({x.shape[1], width}, -0.5, 0.5)});
      if (chance(70)) y = b_.node("Add", {b_.random({width}), y});
      return {y, {x.shape[0], width}};
    }
  }
}

/// A residual, a product or a concatenation of two features; the first one where they do not fit.
RandomGraph::Feature RandomGraph::combine(const Feature& x, const Feature& y) {
  if (x.shape == y.shape) {
    static constexpr const char* kOps[] = {"Add", "Add", "Add", "Sub", "Mul"};
    return {b_.node(kOps[pick(5)], {x.id, y.id}), x.shape};
  }
  if (x.shape.size() != 3 || x.shape[1] != y.shape[1]) return x;
  const ValueId joined = b_.node("Concat", {x.id, y.id}, {{"axis", int64_t{1}}});
  return {joined, {x.shape[0] + y.shape[0], x.shape[1], x.shape[2]}};
}

ValueId RandomGraph::head(const Feature& x) {
  if (x.shape.size() != 3 || chance(30)) return x.id;
  const ValueId pooled =
      b_.node("ReduceMean", {x.id, b_.ints({2, 3})}, {{"keepdims", int64_t{chance(50) ? 1 : 0}}});
  const ValueId flat = b_.node("Flatten", {pooled});
  const ValueId y = b_.node("MatMul", {flat, b_.random({x.shape[0], 5})});
  return b_.node("Add", {y, b_.random({5})});
}

/// A convolution as a ResNet has it.
ValueId RandomGraph::normalized(ValueId x, int64_t in, int64_t out, int64_t kernel, bool bounded) {
  ValueId y = b_.conv(x, in, out, kernel);
  if (chance(60)) y = b_.batch_norm(y, out);
  if (chance(5)) return b_.node("Tanh", {y});
  return bounded && chance(80) ? b_.node("Relu", {y}) : y;
}

/// A stage of a ResNet whose rows are wide, with what is rare in one.
Graph RandomGraph::stage() {
  const Dims image = {Dim::symbol("N"), 64, 1, 46 + pick(19)};
  ValueId x = b_.input("x", image);
  ValueId wide = kNoValue;
  std::vector<ValueId> outputs;
  for (int64_t i = 1 + pick(2); i >= 0; --i) {
    const bool projects = wide == kNoValue || chance(10);
    const ValueId early = projects && chance(30) ? normalized(x, 64, 256, 1, false) : kNoValue;
    const ValueId middle = normalized(x, 64, 64, 3, true);
    const ValueId expanded = normalized(middle, 64, 256, 1, chance(5));
    ValueId shortcut = wide;
    if (projects) shortcut = early != kNoValue ? early : normalized(x, 64, 256, 1, false);
    const ValueId sum =
        b_.node("Add", chance(50) ? std::vector{expanded, shortcut} : std::vector{shortcut, expanded});
    wide = chance(90) ? b_.node("Relu", {sum}) : sum;
    for (const ValueId read : {middle, expanded, wide}) {
      if (chance(8)) outputs.push_back(chance(50) ? b_.node("Neg", {read}) : read);
    }
    const int64_t channels = i == 0 ? 64 * (1 + pick(2)) : 64;
    x = normalized(wide, 256, channels, 1, true);
  }
  outputs.push_back(x);
  return b_.finish(outputs);
}

Graph RandomGraph::build() {
  if (chance(8)) return stage();
  const bool image = chance(60);
  const Shape shape = image ? Shape{4, 5, 5} : Shape{3, 6};
  Dims dims{Dim::symbol("N")};
  dims.insert(dims.end(), shape.begin(), shape.end());
  std::vector<Feature> features{{b_.input("x", dims), shape}};
  const int64_t steps = 3 + pick(10);
  for (int64_t i = 0; i < steps; ++i) {
    // Mostly a chain, now and then a branch from further up.
    const Feature x = chance(75) ? features.back() : any(features);
    if (chance(25)) {
      features.push_back(combine(x, any(features)));
    } else {
      features.push_back(image ? image_step(x) : token_step(x));
    }
  }
  std::vector<ValueId> outputs{head(features.back())};
  if (chance(30)) {
    const ValueId second = any(features).id;
    if (second != outputs[0] && second != features[0].id) outputs.push_back(second);
  }
  if (outputs[0] == features[0].id) outputs[0] = b_.node("Relu", {outputs[0]});
  return b_.finish(outputs);
}

}  // namespace hone::test
