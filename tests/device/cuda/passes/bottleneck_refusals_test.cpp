// Patterns that bottleneck_fusion leaves alone, and why.
#include <functional>

#include "device/cuda/passes/bottleneck.hpp"

namespace hone::test {
namespace {

/// Nothing is fused, for a reason with this text, or for none where that is empty.
void expect_refused(const Graph& graph, const std::string& text) {
  const auto result = fuse_bottlenecks(graph);
  EXPECT_EQ(structure(result.graph).find("bottleneck"), std::string::npos) << text;
  const auto& refusals = result.summary.refusals;
  if (text.empty()) {
    EXPECT_TRUE(refusals.empty()) << refusals[0];
  } else {
    EXPECT_TRUE(refuses(result, text)) << text << ": " << (refusals.empty() ? "" : refusals[0]);
  }
}

void expect_refused(const std::function<void(Parts&)>& change, const std::string& text,
                    bool projects = false) {
  Parts parts{.projects = projects};
  change(parts);
  expect_refused(bottleneck(parts), text);
}

TEST(BottleneckRefusals, NameBothEnds) {
  const auto result = fuse_bottlenecks(bottleneck({.image = {Dim::symbol("N"), 64, 1, 47}}));
  EXPECT_EQ(result.summary.refusals,
            (std::vector<std::string>{"'Conv1 + Relu1' to 'Conv3 + Relu3' not fused: rows of 47 pixels fill "
                                      "less than three quarters of tiles of 64"}));
}

TEST(BottleneckRefusals, OtherWidths) {
  const auto image = [](Dim width) { return Parts{.image = {Dim::symbol("N"), 64, 1, std::move(width)}}; };
  expect_refused(bottleneck(image(65)), "rows of 65 pixels fill less than three quarters of tiles of 64");
  expect_refused(bottleneck(image(95)), "rows of 95 pixels fill less than three quarters of tiles of 64");
  expect_refused(bottleneck(image(Dim::symbol("W"))), "the width of its images is not known");
}

TEST(BottleneckRefusals, OtherReadersOfTheMiddle) {
  for (const bool is_output : {false, true}) {
    GraphBuilder b;
    const Values v = add_bottleneck(b);
    expect_refused(b.finish({v.narrow, is_output ? v.middle : b.node("Neg", {v.middle})}),
                   "others want the result of 'Conv1 + Relu1' too");
  }
  // The projection, and the addition, read it.
  GraphBuilder projected;
  const ValueId image = projected.input("x", Parts().image);
  const ValueId middle = convolve(projected, image, Parts().window);
  const ValueId expanded = convolve(projected, middle, Parts().expand);
  const ValueId wide = projected.node("Add", {expanded, convolve(projected, middle, Parts().projection)});
  expect_refused(projected.finish({convolve(projected, wide, Parts().next)}),
                 "others want the result of 'Conv1 + Relu1' too");
}

TEST(BottleneckRefusals, OtherReadersOfTheExpansion) {
  for (const bool is_output : {false, true}) {
    GraphBuilder b;
    const Values v = add_bottleneck(b, {.projects = true});
    // The addition, which the expansion cannot take, is the projection's.
    expect_refused(b.finish({v.narrow, is_output ? v.expanded : b.node("Neg", {v.expanded})}), "");
  }
  // The projection reads it.
  GraphBuilder b;
  const ValueId expanded =
      convolve(b, convolve(b, b.input("x", Parts().image), Parts().window), Parts().expand);
  const ValueId projected = convolve(b, convolve(b, expanded, Parts().next), Parts().projection);
  expect_refused(b.finish({convolve(b, b.node("Add", {expanded, projected}), Parts().next)}), "");
  // It is added to itself.
  GraphBuilder twice;
  const ValueId half =
      convolve(twice, convolve(twice, twice.input("x", Parts().image), Parts().window), Parts().expand);
  expect_refused(twice.finish({convolve(twice, twice.node("Add", {half, half}), Parts().next)}), "");
}

TEST(BottleneckRefusals, OtherActivations) {
  for (const bool projects : {false, true}) {
    expect_refused([](Parts& parts) { parts.window.activation = "Tanh"; },
                   "'Conv1 + Tanh1' ends with more than a Relu or Clip", projects);
    expect_refused([](Parts& parts) { parts.activation = "Sigmoid"; },
                   "+ Add1 + Sigmoid1' ends with more than a Relu or Clip", projects);
    expect_refused([](Parts& parts) { parts.next.activation = "LeakyRelu"; },
                   "+ LeakyRelu1' ends with more than a Relu or Clip", projects);
  }
  // A Relu of what is added is none of the sum's.
  for (const auto& [activation, name] : {std::pair("Relu", "Relu2"), {"Clip", "Clip1"}}) {
    expect_refused([&](Parts& parts) { parts.expand.activation = activation; },
                   fmt::format("'Conv2 + {}' has an activation ahead of the addition", name), true);
    expect_refused([&](Parts& parts) { parts.projection.activation = activation; }, "", true);
    expect_refused([&](Parts& parts) { parts.expand.activation = activation; }, "");
  }
}

TEST(BottleneckRefusals, MoreThanAnActivation) {
  for (const bool projects : {false, true}) {
    GraphBuilder b;
    const ValueId image = b.input("x", Parts().image);
    const ValueId expanded = convolve(b, convolve(b, image, Parts().window), Parts().expand);
    const ValueId shortcut =
        projects ? convolve(b, image, Parts().projection) : b.input("shortcut", *b.type(expanded).dims);
    const ValueId sum = b.node("Add", {expanded, shortcut});
    const ValueId wide = activate(b, b.node("Relu", {sum}), "Clip");
    expect_refused(b.finish({convolve(b, wide, Parts().next)}), "ends with more than a Relu or Clip");
  }
  GraphBuilder b;
  const Values v = add_bottleneck(b, {.next = {{64, 256, 1, 1}}});
  expect_refused(b.finish({b.node("Add", {v.narrow, v.x})}),
                 "'Conv3 + Add2' ends with more than a Relu or Clip");
}

TEST(BottleneckRefusals, OtherWindows) {
  const auto refused = [](Convolution Parts::*part, const AttributeList& attributes, const char* name) {
    expect_refused(
        [&](Parts& parts) {
          parts.image = {Dim::symbol("N"), 64, 2, 96};
          (parts.*part).attributes = attributes;
        },
        fmt::format("'{}' has groups, dilations or other strides or padding", name));
  };
  const std::pair<std::string, graph::Attribute> pads = {"pads", Ints{1, 1, 1, 1}};
  refused(&Parts::window, {pads, {"strides", Ints{2, 2}}}, "Conv1 + Relu1");
  refused(&Parts::window, {{"pads", Ints{2, 2, 2, 2}}, {"dilations", Ints{2, 2}}}, "Conv1 + Relu1");
  refused(&Parts::window, {{"pads", Ints{1, 1, 1, 0}}}, "Conv1 + Relu1");
  refused(&Parts::window, {{"pads", Ints{0, 1, 2, 1}}}, "Conv1 + Relu1");
  refused(&Parts::window, {{"auto_pad", std::string("SAME_UPPER")}}, "Conv1 + Relu1");
  refused(&Parts::expand, {{"strides", Ints{1, 2}}}, "Conv2 + Add1 + Relu2");
  refused(&Parts::expand, {pads}, "Conv2 + Add1 + Relu2");
  refused(&Parts::next, {{"strides", Ints{2, 1}}}, "Conv3 + Relu3");
  refused(&Parts::next, {pads}, "Conv3 + Relu3");
  expect_refused(
      [](Parts& parts) {
        parts.image[1] = 128;
        parts.window.attributes.emplace_back("group", int64_t{2});
      },
      "'Conv1 + Relu1' has groups, dilations or other strides or padding");
  GraphBuilder b;
  Parts parts{.projects = true};
  parts.projection.attributes = {{"strides", Ints{2, 2}}};
  const ValueId large = b.input("large", {Dim::symbol("N"), 64, 4, 96});
  const Values v = add_bottleneck(b, b.input("x", parts.image), large, parts);
  expect_refused(b.finish({v.narrow}), "+ Add1 + Relu2' has groups, dilations or other strides or padding");
}

TEST(BottleneckRefusals, ShortcutsOfOtherShapes) {
  const Dim n = Dim::symbol("N");
  // Wider ones than the last are left to a step of their own before.
  const std::pair<Dims, const char*> shortcuts[] = {{{1, 256, 2, 48}, ""},
                                                    {{n, 256, 1, 48}, ""},
                                                    {{n, 256, 2, 1}, ""},
                                                    {{n, 1, 2, 48}, ""},
                                                    {{256, 1, 1}, "its shortcut is broadcast"}};
  for (const auto& [dims, text] : shortcuts) {
    GraphBuilder b;
    const ValueId x = b.input("x", Parts().image);
    expect_refused(b.finish({add_bottleneck(b, x, b.input("shortcut", dims)).narrow}), text);
  }
  // The result of the projection has the larger shape.
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 64, 2, 48});
  const ValueId shortcut = b.input("shortcut", Parts().image);
  expect_refused(b.finish({add_bottleneck(b, x, shortcut, {.projects = true}).narrow}), "");
}

TEST(BottleneckRefusals, WeightsThatAreComputed) {
  for (const bool bias : {false, true}) {
    for (const size_t which : {0, 1, 2, 3}) {
      GraphBuilder b;
      // Filters of the window, the expansion, the projection, and the next convolution.
      const Shape shapes[] = {{64, 64, 3, 3}, {256, 64, 1, 1}, {256, 64, 1, 1}, {64, 256, 1, 1}};
      size_t made = 0;
      const auto conv = [&](ValueId x) {
        const Shape& shape = shapes[made];
        const bool computed = made == which;
        ++made;
        const ValueId filters = computed && !bias ? b.input("filters", Dims(shape.begin(), shape.end()))
                                                  : b.random(shape, -0.1, 0.1);
        const ValueId biases = computed && bias ? b.input("biases", {shape[0]}) : b.random({shape[0]});
        const int64_t pad = shape[2] / 2;
        return b.node("Conv", {x, filters, biases}, {{"pads", Ints{pad, pad, pad, pad}}});
      };
      const ValueId x = b.input("x", Parts().image);
      const ValueId expanded = conv(conv(x));
      const ValueId narrow = conv(b.node("Add", {expanded, conv(x)}));
      expect_refused(b.finish({narrow}), bias ? "the bias of 'Conv" : "");
    }
  }
}

TEST(BottleneckRefusals, OtherElements) {
  Graph graph = bottleneck();
  for (graph::Value& value : graph.values) {
    value.type.dtype = DType::kFloat64;
    if (value.constant) value.constant = value.constant->cast(DType::kFloat64);
  }
  expect_refused(graph, "its elements are not float32");
}

TEST(BottleneckRefusals, OtherFilters) {
  expect_refused([](Parts& parts) { parts.window.filters = {64, 32, 3, 3}, parts.image[1] = 32; }, "");
  expect_refused([](Parts& parts) { parts.window = {{64, 64, 1, 1}}; }, "");
  expect_refused([](Parts& parts) { parts.next.filters[0] = 32; }, "");
  expect_refused([](Parts& parts) { parts.expand.filters[0] = parts.next.filters[1] = 128; }, "");
  expect_refused([](Parts& parts) { parts.projection.filters[1] = 32; }, "", true);
  expect_refused([](Parts& parts) { parts.next = {{64, 256, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}}}; }, "");
}

TEST(BottleneckRefusals, SumsThatAreNone) {
  for (const char* op : {"Sub", "Mul"}) {
    GraphBuilder b;
    const ValueId x = b.input("x", Parts().image);
    const ValueId expanded = convolve(b, convolve(b, x, Parts().window), Parts().expand);
    const ValueId shortcut = b.input("shortcut", *b.type(expanded).dims);
    expect_refused(b.finish({convolve(b, b.node(op, {expanded, shortcut}), Parts().next)}), "");
  }
  GraphBuilder b;
  const ValueId expanded =
      convolve(b, convolve(b, b.input("x", Parts().image), Parts().window), Parts().expand);
  expect_refused(b.finish({convolve(b, b.node("Relu", {expanded}), Parts().next)}), "");
}

}  // namespace
}  // namespace hone::test
