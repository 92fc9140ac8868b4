// Bottlenecks as the tests of bottleneck_fusion want them, and that pass behind convolution_fusion.
#pragma once

#include "support/passes.hpp"

namespace hone::test {

using Ints = std::vector<int64_t>;

struct Convolution {
  Shape filters;
  AttributeList attributes = {};
  std::string activation = {};
  bool bias = true;
};

/// The parts of a bottleneck and of what reads it.
struct Parts {
  Dims image = {Dim::symbol("N"), 64, 2, 48};
  Convolution window = {{64, 64, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}}, "Relu"};
  Convolution expand = {{256, 64, 1, 1}};
  Convolution projection = {{256, 64, 1, 1}};
  Convolution next = {{64, 256, 1, 1}, {}, "Relu"};
  std::string activation = "Relu";
  bool projects = false;
  bool shortcut_first = false;  ///< of the operands of the addition
};

struct Values {
  ValueId x;
  ValueId middle;
  ValueId expanded;
  ValueId shortcut;  ///< what is added
  ValueId wide;
  ValueId narrow;
};

/// A Clip bounds some of the numbers on both sides.
inline ValueId activate(GraphBuilder& b, ValueId x, const std::string& op) {
  if (op.empty()) return x;
  return op == "Clip" ? b.node(op, {x, b.scalar(-0.5), b.scalar(1)}) : b.node(op, {x});
}

inline ValueId convolve(GraphBuilder& b, ValueId x, const Convolution& part) {
  std::vector<ValueId> inputs = {x, b.random(part.filters, -0.1, 0.1)};
  if (part.bias) inputs.push_back(b.random({part.filters[0]}));
  return activate(b, b.node("Conv", inputs, part.attributes), part.activation);
}

/// Up to what reads the bottleneck. `shortcut` is what is added, or projected where the parts say so; an
/// input of the graph that fits where there is none.
inline Values add_bottleneck(GraphBuilder& b, ValueId x, ValueId shortcut = kNoValue,
                             const Parts& parts = {}) {
  Values v{.x = x};
  v.middle = convolve(b, x, parts.window);
  v.expanded = convolve(b, v.middle, parts.expand);
  if (shortcut == kNoValue) {
    Dims dims = *b.type(v.expanded).dims;
    if (parts.projects) dims[1] = parts.projection.filters[1];
    shortcut = b.input("shortcut", dims, b.type(x).dtype);
  }
  v.shortcut = parts.projects ? convolve(b, shortcut, parts.projection) : shortcut;
  const auto operands =
      parts.shortcut_first ? std::vector{v.shortcut, v.expanded} : std::vector{v.expanded, v.shortcut};
  v.wide = activate(b, b.node("Add", operands), parts.activation);
  v.narrow = convolve(b, v.wide, parts.next);
  return v;
}

inline Values add_bottleneck(GraphBuilder& b, const Parts& parts = {}) {
  return add_bottleneck(b, b.input("x", parts.image), kNoValue, parts);
}

inline Graph bottleneck(const Parts& parts = {}) {
  GraphBuilder b;
  return b.finish({add_bottleneck(b, parts).narrow});
}

inline Transformed fuse_bottlenecks(const Graph& original, const std::string& pass = "bottleneck_fusion") {
  return check_behind_convolution_fusion(original, pass);
}

}  // namespace hone::test
