// Squeeze and excitation becomes one node behind convolution_fusion, where that is asked for.
#include "graph/operator.hpp"
#include "support/passes.hpp"

namespace hone::test {
namespace {

using Ints = std::vector<int64_t>;

constexpr const char* kPass = "squeeze_excite_fusion";
const Dims kImage = {Dim::symbol("N"), 16, Dim::symbol("H"), Dim::symbol("W")};

/// The parts of a block, each as the tests want it.
struct Parts {
  Dims image = kImage;
  Shape squeeze = {6, 16, 1, 1};
  Shape gate = {16, 6, 1, 1};
  AttributeList window = {};  ///< of the first convolution
  std::string activation = "Relu";
  std::string sigmoid = "Sigmoid";
  bool bias = true;
  bool gate_first = false;
};

struct Values {
  ValueId x;
  ValueId means;
  ValueId hidden;
  ValueId gate;
  ValueId product;
};

ValueId convolution(GraphBuilder& b, ValueId x, const Shape& filters, bool bias,
                    const AttributeList& window) {
  std::vector<ValueId> inputs = {x, b.random(filters, -0.5, 0.5)};
  if (bias) inputs.push_back(b.random({filters[0]}));
  return b.node("Conv", inputs, window);
}

Values add_block(GraphBuilder& b, ValueId x, const Parts& parts = {}) {
  Values v{.x = x};
  v.means = b.node("GlobalAveragePool", {x});
  v.hidden = convolution(b, v.means, parts.squeeze, parts.bias, parts.window);
  if (!parts.activation.empty()) v.hidden = b.node(parts.activation, {v.hidden});
  v.gate = convolution(b, v.hidden, parts.gate, parts.bias, {});
  if (!parts.sigmoid.empty()) v.gate = b.node(parts.sigmoid, {v.gate});
  v.product = b.node("Mul", parts.gate_first ? std::vector{v.gate, x} : std::vector{x, v.gate});
  return v;
}

Graph block(GraphBuilder& b, const Parts& parts = {}) {
  return b.finish({add_block(b, b.input("x", parts.image), parts).product});
}

Transformed fuse(const Graph& original) { return check_behind_convolution_fusion(original, kPass); }

TEST(SqueezeExciteFusion, TakesTheWholeBlock) {
  for (const bool gate_first : {false, true}) {
    GraphBuilder b;
    const auto result = fuse(block(b, {.gate_first = gate_first}));
    ASSERT_EQ(structure_with_bodies(result.graph),
              "squeeze_excite(GlobalAveragePool FusedConv[relu] FusedConv[sigmoid] Mul)");
    const Node& node = result.graph.nodes[0];
    EXPECT_EQ(node.inputs.size(), 5u);
    EXPECT_EQ(node.name, "GlobalAveragePool1 + Conv1 + Relu1 + Conv2 + Sigmoid1 + Mul1");
    EXPECT_EQ(node.sources, (std::vector<std::string>{"GlobalAveragePool1", "Conv1", "Relu1", "Conv2",
                                                      "Sigmoid1", "Mul1"}));
    EXPECT_EQ(result.graph.value(result.graph.outputs[0]).type.text(), "float32[Nx16xHxW]");
  }
}

TEST(SqueezeExciteFusion, WithAnyActivationsAndWithoutBiases) {
  for (const char* squeeze : {"HardSwish", "Tanh", ""}) {
    for (const char* gate : {"HardSigmoid", "Sigmoid", ""}) {
      GraphBuilder b;
      const auto result = fuse(block(b, {.activation = squeeze, .sigmoid = gate, .bias = false}));
      ASSERT_EQ(structure(result.graph), "squeeze_excite");
      EXPECT_EQ(result.graph.nodes[0].inputs.size(), 3u);
    }
  }
}

TEST(SqueezeExciteFusion, TakesEmptyImages) {
  GraphBuilder b;
  EXPECT_EQ(fuse(block(b, {.image = {Dim::symbol("N"), 16, 0, 4}})).graph.nodes[0].op, graph::kRegion);
}

TEST(SqueezeExciteFusion, OthersMayReadTheImage) {
  GraphBuilder b;
  const ValueId x = b.node("Relu", {b.input("x", kImage)});
  const Values v = add_block(b, x);
  const auto result = fuse(b.finish({b.node("Add", {v.product, x}), b.node("Tanh", {x})}));
  EXPECT_EQ(structure(result.graph), "Relu squeeze_excite Add Tanh");
}

TEST(SqueezeExciteFusion, IsLeftOutUnlessItIsAskedFor) {
  GraphBuilder b;
  Graph graph = block(b);
  transform::optimize(graph);
  EXPECT_EQ(structure(graph), "GlobalAveragePool FusedConv[relu] FusedConv[sigmoid] Mul");
}

TEST(SqueezeExciteFusion, RefusesPartsThatOthersRead) {
  for (const auto part : {&Values::means, &Values::hidden, &Values::gate}) {
    GraphBuilder b;
    const Values v = add_block(b, b.input("x", kImage));
    const auto result = fuse(b.finish({v.product, b.node("Neg", {v.*part})}));
    EXPECT_EQ(structure(result.graph).find("squeeze_excite"), std::string::npos);
    EXPECT_TRUE(refuses(result, "others want the result of"));
  }
  GraphBuilder b;
  const Values v = add_block(b, b.input("x", kImage));
  EXPECT_TRUE(refuses(fuse(b.finish({v.product, v.gate})), "others want the result of"));
}

TEST(SqueezeExciteFusion, RefusesWhatItsKernelDoesNotTake) {
  const auto reason = [](const Parts& parts, const std::string& text) {
    GraphBuilder b;
    const auto result = fuse(block(b, parts));
    EXPECT_EQ(structure(result.graph).find("squeeze_excite"), std::string::npos) << text;
    EXPECT_TRUE(refuses(result, text))
        << text << ": " << (result.summary.refusals.empty() ? "" : result.summary.refusals[0]);
  };
  const auto image = [](int64_t channels) { return Dims{Dim::symbol("N"), channels, 2, 2}; };
  reason({.image = image(12), .squeeze = {6, 12, 1, 1}, .gate = {12, 6, 1, 1}},
         "12 channels, no multiple of 8 up to 8192");
  reason({.squeeze = {513, 16, 1, 1}, .gate = {16, 513, 1, 1}},
         "513 channels between the convolutions, not 1 to 512");
  reason({.image = image(1024), .squeeze = {264, 1024, 1, 1}, .gate = {1024, 264, 1, 1}},
         "filters of 270336 elements, more than 262144");
  reason({.gate = {1, 6, 1, 1}}, "1 gates for 16 channels");
  reason({.squeeze = {6, 8, 1, 1}, .window = {{"group", int64_t{2}}}},
         "'Conv1 + Relu1' has groups, strides or padding");
  reason({.window = {{"strides", Ints{2, 2}}}}, "'Conv1 + Relu1' has groups, strides or padding");
  reason({.squeeze = {6, 16, 3, 3}, .window = {{"pads", Ints{1, 1, 1, 1}}}},
         "'Conv1 + Relu1' has no constant filters of 1 x 1");
}

TEST(SqueezeExciteFusion, RefusesPaddedMeans) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId means = b.node("GlobalAveragePool", {x});
  const ValueId hidden = convolution(b, means, {6, 16, 1, 1}, true, {{"pads", Ints{1, 1, 1, 1}}});
  const ValueId gate = convolution(b, hidden, {16, 6, 1, 1}, true, {});
  const auto result = fuse(b.finish({b.node("Mul", {x, gate})}));
  EXPECT_EQ(structure(result.graph), "GlobalAveragePool Conv Conv Mul");
  EXPECT_TRUE(refuses(result, "'Conv1' has groups, strides or padding"));
}

TEST(SqueezeExciteFusion, RefusesWeightsThatAreComputed) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId bias = b.input("bias", {16});
  const ValueId means = b.node("GlobalAveragePool", {x});
  const ValueId hidden = convolution(b, means, {6, 16, 1, 1}, true, {});
  const ValueId gate = b.node("Conv", {hidden, b.random({16, 6, 1, 1}), bias});
  EXPECT_TRUE(refuses(fuse(b.finish({b.node("Mul", {x, gate})})), "the bias of 'Conv2' is not constant"));
}

TEST(SqueezeExciteFusion, RefusesMoreThanAnActivation) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId means = b.node("GlobalAveragePool", {x});
  const ValueId hidden = convolution(b, means, {6, 16, 1, 1}, true, {});
  const ValueId gate =
      b.node("Add", {b.node("Sigmoid", {convolution(b, hidden, {16, 6, 1, 1}, true, {})}), b.scalar(1)});
  EXPECT_TRUE(refuses(fuse(b.finish({b.node("Mul", {x, gate})})), "ends with more than one activation"));
}

TEST(SqueezeExciteFusion, LeavesProductsOfOtherImagesAlone) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId other = b.input("other", kImage);
  const ValueId hidden = convolution(b, b.node("GlobalAveragePool", {x}), {6, 16, 1, 1}, true, {});
  const ValueId gate = convolution(b, hidden, {16, 6, 1, 1}, true, {});
  const auto result = fuse(b.finish({b.node("Mul", {other, gate})}));
  EXPECT_EQ(structure(result.graph), "GlobalAveragePool Conv Conv Mul");
  EXPECT_TRUE(result.summary.refusals.empty());
}

TEST(SqueezeExciteFusion, CountsTheOperationsOfAllParts) {
  GraphBuilder b;
  const Graph apart = block(b, {.image = {2, 16, 5, 7}});
  const Graph together = fuse(apart).graph;
  const auto flops = [](const Graph& graph) {
    double sum = 0;
    for (const Node& node : graph.nodes) sum += graph::node_cost(graph, node)->flops;
    return sum;
  };
  EXPECT_EQ(flops(together), flops(apart));
}

}  // namespace
}  // namespace hone::test
