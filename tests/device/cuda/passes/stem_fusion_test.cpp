// The convolution of an image takes in its max pool and the convolution of 1 x 1 behind it, where that is
// asked for.
#include "device/cuda/passes/pass_list.hpp"
#include "graph/infer.hpp"
#include "graph/operator.hpp"
#include "support/passes.hpp"
#include "transform/region.hpp"

namespace hone::test {
namespace {

using Ints = std::vector<int64_t>;

constexpr const char* kPass = "stem_fusion";
constexpr const char* kFused = "stem(conv_max_pool(FusedConv[relu] MaxPool) FusedConv[relu])";
constexpr const char* kApart = "conv_max_pool(FusedConv[relu] MaxPool) FusedConv[relu]";

/// Parts of a stem as ResNet begins.
struct Parts {
  Dims image = {Dim::symbol("N"), 3, 12, 16};
  Shape filters = {64, 3, 7, 7};
  std::vector<std::pair<std::string, graph::Attribute>> window = {{"strides", Ints{2, 2}},
                                                                  {"pads", Ints{3, 3, 3, 3}}};
  std::string activation = "Relu";
  Shape next = {64, 64, 1, 1};
  std::vector<std::pair<std::string, graph::Attribute>> next_window = {};
  std::string next_activation = "Relu";
  bool bias = true;
};

ValueId convolve(GraphBuilder& b, ValueId x, const Shape& filters,
                 const std::vector<std::pair<std::string, graph::Attribute>>& attributes, bool bias,
                 const std::string& activation) {
  std::vector<ValueId> inputs = {x, b.random(filters, -0.1, 0.1)};
  if (bias) inputs.push_back(b.random({filters[0]}));
  const ValueId result = b.node("Conv", inputs, attributes);
  if (activation.empty()) return result;
  return activation == "Clip" ? b.node(activation, {result, b.scalar(-0.5), b.scalar(1)})
                              : b.node(activation, {result});
}

struct Stem {
  ValueId pooled;
  ValueId narrow;
};

Stem add_stem(GraphBuilder& b, const Parts& parts) {
  const ValueId x = b.input("x", parts.image);
  const ValueId y = convolve(b, x, parts.filters, parts.window, parts.bias, parts.activation);
  const ValueId pooled = b.node(
      "MaxPool", {y}, {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}});
  return {pooled, convolve(b, pooled, parts.next, parts.next_window, parts.bias, parts.next_activation)};
}

/// Behind convolution_fusion and pool_fusion, which it follows, asked for; outputs stay the same, and nothing
/// is left to do.
Transformed fuse(const Graph& original) {
  const auto run = [](const Graph& graph) {
    Transformed result{graph, {}};
    transform::PassOptions options{.disabled = {}, .requested = {"pool_fusion", kPass}};
    for (const std::string& name : transform::pass_names()) {
      if (name != kPass && name != "convolution_fusion" && name != "pool_fusion")
        options.disabled.push_back(name);
    }
    for (transform::Summary& summary : transform::optimize(result.graph, options)) {
      if (summary.name == kPass) result.summary = std::move(summary);
    }
    return result;
  };
  Transformed result = run(original);
  expect_equivalent(original, result.graph);
  EXPECT_EQ(run(result.graph).summary.changes, 0);
  return result;
}

Transformed fuse(const Parts& parts) {
  GraphBuilder b;
  return fuse(b.finish({add_stem(b, parts).narrow}));
}

void expect_refused(const Parts& parts, const std::string& text) {
  const auto result = fuse(parts);
  EXPECT_EQ(structure(result.graph).find("stem"), std::string::npos);
  EXPECT_TRUE(refuses(result, text)) << text;
}

TEST(StemFusion, TakesTheConvolutionBehindThePool) {
  const auto result = fuse(Parts());
  ASSERT_EQ(structure_with_bodies(result.graph), kFused);
  const Node& node = result.graph.nodes[0];
  EXPECT_EQ(node.name, "Conv1 + Relu1 + MaxPool1 + Conv2 + Relu2");
  EXPECT_EQ(node.inputs.size(), 5u);
  EXPECT_EQ(result.graph.value(node.outputs[0]).type.text(), "float32[Nx64x3x4]");
  EXPECT_EQ(result.graph.value(node.outputs[1]).type.text(), "float32[Nx64x3x4]");
}

TEST(StemFusion, LeavesWhatThePoolGivesToOtherReaders) {
  GraphBuilder b;
  const Stem stem = add_stem(b, {});
  const ValueId other = convolve(b, stem.pooled, {256, 64, 1, 1}, {}, true, "");
  EXPECT_EQ(structure_with_bodies(fuse(b.finish({stem.narrow, other, stem.pooled})).graph),
            std::string(kFused) + " Conv");
}

TEST(StemFusion, TakesBoundsAndConvolutionsWithoutBiases) {
  for (const char* const activation : {"", "Relu", "Clip"}) {
    for (const bool bias : {false, true}) {
      const auto result = fuse(Parts{.activation = activation, .next_activation = activation, .bias = bias});
      EXPECT_EQ(structure(result.graph), "stem") << activation;
      EXPECT_EQ(result.graph.nodes[0].inputs.size(), bias ? 5u : 3u);
    }
  }
}

TEST(StemFusion, LeavesOtherConvolutionsBehindThePoolAlone) {
  for (const Shape& next : {Shape{128, 64, 1, 1}, {64, 64, 3, 3}})
    EXPECT_EQ(structure_with_bodies(fuse(Parts{.next = next}).graph), kApart);
}

TEST(StemFusion, RefusesWhatItsKernelDoesNotTake) {
  expect_refused({.filters = {64, 3, 5, 5}}, "it has not 64 filters of 7 x 7");
  expect_refused({.image = {1, 3, 12, 14}}, "rows of 14 pixels are no multiple of 4");
  expect_refused({.image = {1, 3, 260, 256}}, "images of 260 x 256 pixels are large");
  expect_refused({.image = {1, 3, Dim::symbol("H"), 16}}, "the size of its images is not known");
  expect_refused({.window = {{"strides", Ints{2, 2}}, {"pads", Ints{2, 2, 2, 2}}}},
                 "has groups, dilations or other strides or padding");
  expect_refused({.next_window = {{"strides", Ints{2, 2}}}},
                 "has groups, dilations or other strides or padding");
  expect_refused({.activation = "Sigmoid"}, "ends with more than a Relu or Clip");
  expect_refused({.next_activation = "Sigmoid"}, "ends with more than a Relu or Clip");
}

TEST(StemFusion, RefusesImagesOfUnknownRankAndBiasesThatAreComputed) {
  for (const bool ranked : {false, true}) {
    Graph graph;
    const auto constant = [&](const char* name, const Shape& shape) {
      return graph.add_constant(name, random_tensor(shape, 1));
    };
    const std::optional<Dims> dims = ranked ? std::optional(Dims{1, 3, 12, 16}) : std::nullopt;
    graph.inputs = {graph.add_value("x", {graph::DType::kFloat32, dims}),
                    graph.add_value("b", {graph::DType::kFloat32, Dims{64}})};
    const ValueId image = graph.add_value("image");
    const ValueId pooled = graph.add_value("pooled");
    const ValueId narrow = graph.add_value("narrow");
    Node conv{.name = "conv", .op = "Conv"};
    conv.inputs = {graph.inputs[0], constant("w", {64, 3, 7, 7})};
    if (ranked) conv.inputs.push_back(graph.inputs[1]);
    conv.outputs = {image};
    conv.attributes.set("strides", Ints{2, 2});
    conv.attributes.set("pads", Ints(4, 3));
    Node pool{.name = "pool", .op = "MaxPool"};
    pool.inputs = {image};
    pool.outputs = {pooled};
    for (const auto& [name, values] :
         {std::pair("kernel_shape", Ints{3, 3}), {"strides", Ints{2, 2}}, {"pads", Ints(4, 1)}})
      pool.attributes.set(name, values);
    for (Node* node : {&conv, &pool}) graph::complete_node(*node);
    Node stem = transform::make_region("conv_max_pool", {{"conv", conv}, {"pool", pool}}, {pooled});
    stem.name = "stem";
    Node next{.name = "next", .op = "Conv"};
    next.inputs = {pooled, constant("v", {64, 64, 1, 1})};
    next.outputs = {narrow};
    for (Node node : {stem, next}) {
      graph::complete_node(node);
      graph.add_node(std::move(node));
    }
    graph.outputs = {narrow};
    graph::infer_types(graph);
    const transform::Summary summary = device::cuda::stem_fusion(graph);
    EXPECT_EQ(summary.changes, 0);
    ASSERT_EQ(summary.refusals.size(), 1u);
    EXPECT_NE(summary.refusals[0].find(ranked ? "the bias of 'stem' is not constant"
                                              : "the size of its images is not known"),
              std::string::npos)
        << summary.refusals[0];
  }
}

/// A reader of the second result keeps its Relu, although the first one is a Relu's.
TEST(StemFusion, LeavesTheActivationOfAnotherReaderAlone) {
  GraphBuilder b;
  const Stem stem = add_stem(b, {.next_activation = ""});
  const ValueId other = convolve(b, b.node("Relu", {stem.narrow}), {8, 64, 1, 1}, {}, true, "");
  const Graph original = b.finish({stem.narrow, other});
  Graph graph = original;
  transform::optimize(graph, {.requested = {"pool_fusion", kPass}});
  EXPECT_EQ(structure(graph).substr(0, 4), "stem");
  expect_equivalent(original, graph);
}

TEST(StemFusion, IsLeftOutUnlessItIsAskedFor) {
  GraphBuilder b;
  Graph graph = b.finish({add_stem(b, {}).narrow});
  transform::optimize(graph, {.requested = {"pool_fusion"}});
  EXPECT_EQ(structure_with_bodies(graph), kApart);
}

}  // namespace
}  // namespace hone::test
