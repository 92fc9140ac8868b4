// The convolution of an image with its pool takes in the convolution of 1 x 1 behind them, where that is
// asked for.
#include <functional>

#include "graph/operator.hpp"
#include "support/passes.hpp"

namespace hone::test {
namespace {

using Ints = std::vector<int64_t>;

constexpr const char* kPass = "stem_fusion";
constexpr const char* kFused = "FusedStem[relu]";
constexpr const char* kApart = "FusedConvMaxPool[relu] FusedConv[relu]";

/// A convolution of the pattern.
struct Part {
  Shape filters;
  AttributeList attributes = {};
  std::string activation = "Relu";
  bool bias = true;
  bool constant_bias = true;
};

struct Parts {
  Dims image = {Dim::symbol("N"), 3, 12, 12};
  Part stem = {{64, 3, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}}};
  Part next = {{64, 64, 1, 1}};
};

ValueId convolve(GraphBuilder& b, ValueId x, const Part& part) {
  std::vector<ValueId> inputs = {x, b.random(part.filters, -0.3, 0.3)};
  if (part.bias)
    inputs.push_back(part.constant_bias ? b.random({part.filters[0]}) : b.input("bias", {part.filters[0]}));
  const ValueId result = b.node("Conv", inputs, part.attributes);
  if (part.activation.empty()) return result;
  if (part.activation == "Clip") return b.node("Clip", {result, b.scalar(-0.5), b.scalar(1)});
  return b.node(part.activation, {result});
}

ValueId pool(GraphBuilder& b, ValueId x) {
  return b.node("MaxPool", {x},
                {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}});
}

ValueId add_pooled(GraphBuilder& b, const Parts& parts = {}) {
  return pool(b, convolve(b, b.input("x", parts.image), parts.stem));
}

Graph stem(const Parts& parts = {}) {
  GraphBuilder b;
  return b.finish({convolve(b, add_pooled(b, parts), parts.next)});
}

/// Behind the passes that it follows, asked for; outputs stay the same, and nothing is left to do.
Transformed fuse(const Graph& original) {
  const auto run = [&](const Graph& graph) {
    Transformed result{graph, {}};
    transform::PassOptions options{.disabled = {}, .requested = {"pool_fusion", kPass}};
    for (const std::string& name : transform::pass_names()) {
      if (name != kPass && name != "pool_fusion" && name != "convolution_fusion")
        options.disabled.push_back(name);
    }
    for (transform::Summary& summary : transform::optimize(result.graph, options)) {
      if (summary.name == kPass) result.summary = std::move(summary);
    }
    EXPECT_EQ(result.summary.name, kPass);
    return result;
  };
  Transformed result = run(original);
  expect_equivalent(original, result.graph);
  EXPECT_EQ(run(result.graph).summary.changes, 0);
  return result;
}

/// Nothing is fused, for a reason with this text, or for none where that is empty.
void expect_refused(const std::function<void(Parts&)>& change, const std::string& text) {
  Parts parts;
  change(parts);
  const auto result = fuse(stem(parts));
  EXPECT_EQ(structure(result.graph).find("FusedStem"), std::string::npos) << text;
  EXPECT_EQ(result.summary.refusals.empty(), text.empty()) << text;
  EXPECT_TRUE(text.empty() || refuses(result, text)) << text;
}

TEST(StemFusion, TakesTheConvolutionBehindThePool) {
  const auto result = fuse(stem());
  EXPECT_EQ(structure(result.graph), kFused);
  const Node& node = result.graph.nodes[0];
  EXPECT_EQ(node.name, "Conv1 + Relu1 + MaxPool1 + Conv2 + Relu2");
  EXPECT_EQ(node.sources, (std::vector<std::string>{"Conv1", "Relu1", "MaxPool1", "Conv2", "Relu2"}));
  EXPECT_EQ(node.attributes.get<std::vector<std::string>>("next_post_ops"),
            (std::vector<std::string>{"relu"}));
  EXPECT_EQ(node.inputs.size(), 5u);
}

TEST(StemFusion, TakesEveryBoundAndBias) {
  for (const char* activation : {"", "Relu", "Clip"}) {
    for (const bool bias : {false, true}) {
      Parts parts;
      parts.stem.activation = parts.next.activation = activation;
      parts.stem.bias = bias;
      EXPECT_NE(structure(fuse(stem(parts)).graph).find("FusedStem"), std::string::npos);
      parts.stem.bias = true;
      parts.next.bias = bias;
      EXPECT_NE(structure(fuse(stem(parts)).graph).find("FusedStem"), std::string::npos);
    }
  }
}

TEST(StemFusion, OthersMayReadWhatWasPooled) {
  GraphBuilder b;
  const ValueId pooled = add_pooled(b);
  const ValueId before = b.node("Tanh", {pooled});
  const ValueId next = convolve(b, pooled, Parts().next);
  EXPECT_EQ(structure(fuse(b.finish({before, next, b.node("Abs", {next}), pooled})).graph),
            std::string(kFused) + " Tanh Abs");
}

TEST(StemFusion, TakesTheFirstConvolutionThatFits) {
  GraphBuilder b;
  const ValueId pooled = add_pooled(b);
  const ValueId wide = convolve(b, pooled, {{256, 64, 1, 1}});
  const ValueId apart = convolve(b, pooled, {{64, 64, 1, 1}, {{"strides", Ints{2, 2}}}});
  const ValueId first = convolve(b, pooled, Parts().next);
  const ValueId second = convolve(b, pooled, Parts().next);
  const auto result = fuse(b.finish({wide, apart, first, second}));
  EXPECT_EQ(structure(result.graph),
            std::string(kFused) + " FusedConv[relu] FusedConv[relu] FusedConv[relu]");
  EXPECT_EQ(result.graph.nodes[0].sources.back(), "Relu4");
}

TEST(StemFusion, OtherStemsAreRefused) {
  expect_refused([](Parts& p) { p.stem.filters[0] = 32, p.next.filters[1] = 32; }, "");
  expect_refused([](Parts& p) { p.stem.activation = "Sigmoid"; }, "has more than a Relu or Clip");
  expect_refused([](Parts& p) { p.stem.constant_bias = false; }, "are not constant");
  expect_refused(
      [](Parts& p) {
        p.stem.attributes = {{"dilations", Ints{2, 1}}, {"pads", Ints{1, 1, 1, 1}}};
      },
      "has dilations");
  expect_refused([](Parts& p) { p.image[3] = 14; }, "rows of 14 pixels are not whole 16 bytes");
  expect_refused([](Parts& p) { p.image[3] = Dim::symbol("W"); }, "the width of its image is not known");
}

TEST(StemFusion, OtherConvolutionsBehindAreRefused) {
  const std::string geometry = "has groups, strides, dilations or other padding";
  expect_refused([](Parts& p) { p.next.filters = {64, 64, 3, 3}; }, "");
  expect_refused([](Parts& p) { p.next.filters = {128, 64, 1, 1}; }, "");
  expect_refused([&](Parts& p) { p.next.attributes = {{"strides", Ints{2, 2}}}; }, geometry);
  expect_refused([&](Parts& p) { p.next.attributes = {{"pads", Ints{1, 1, 1, 1}}}; }, geometry);
  expect_refused([](Parts& p) { p.next.activation = "Sigmoid"; }, "ends with more than a Relu or Clip");
  expect_refused([](Parts& p) { p.next.constant_bias = false; }, "is not constant");
}

TEST(StemFusion, RefusalsNameBothEnds) {
  Parts parts;
  parts.image[3] = 14;
  EXPECT_EQ(fuse(stem(parts)).summary.refusals,
            (std::vector<std::string>{"'Conv1 + Relu1 + MaxPool1' + 'Conv2 + Relu2' not fused: rows of 14 "
                                      "pixels are not whole 16 bytes"}));
}

TEST(StemFusion, WeightsThatAreNotConstantAreRefused) {
  GraphBuilder b;
  const ValueId x = b.input("x", Parts().image);
  const ValueId conv = b.node("Conv", {x, b.input("filters", {64, 3, 3, 3})});
  const auto result = fuse(b.finish({convolve(b, pool(b, b.node("Relu", {conv})), Parts().next)}));
  EXPECT_EQ(structure(result.graph), kApart);
  EXPECT_TRUE(refuses(result, "are not constant"));
}

TEST(StemFusion, IsLeftOutUnlessItIsAskedFor) {
  Graph graph = stem();
  transform::optimize(graph, {.requested = {"pool_fusion"}});
  EXPECT_EQ(structure(graph), kApart);
}

TEST(StemFusion, CountsTheOperationsOfBoth) {
  Parts parts;
  parts.image[0] = 2;
  const Graph apart = stem(parts);
  const auto flops = [](const Graph& graph) {
    double sum = 0;
    for (const Node& node : graph.nodes) sum += graph::node_cost(graph, node)->flops;
    return sum;
  };
  EXPECT_EQ(flops(fuse(apart).graph), flops(apart));
}

}  // namespace
}  // namespace hone::test
