// Convolutions of one image whose results are concatenated become one behind convolution_fusion, where that
// is asked for.
#include "support/passes.hpp"

namespace hone::test {
namespace {

using Ints = std::vector<int64_t>;

constexpr const char* kPass = "concatenated_convolution_fusion";
const Dims kImage = {Dim::symbol("N"), 4, 7, 6};

Transformed fuse(const Graph& original) { return check_behind_convolution_fusion(original, kPass); }

struct Branch {
  int64_t filters = 5;
  Ints kernel = {3, 3};
  Ints pads = {1, 1, 1, 1};
  bool bias = true;
  std::vector<const char*> activations = {"Relu"};
  Ints strides = {1, 1};
  Ints dilations = {1, 1};
  int64_t group = 1;
};

const Branch kPointwise = {.filters = 6, .kernel = {1, 1}, .pads = {0, 0, 0, 0}};

ValueId add(GraphBuilder& b, ValueId x, const Branch& branch) {
  std::vector<ValueId> inputs = {
      x, b.random({branch.filters, 4 / branch.group, branch.kernel[0], branch.kernel[1]}, -0.5, 0.5)};
  if (branch.bias) inputs.push_back(b.random({branch.filters}));
  ValueId y = b.node("Conv", inputs,
                     {{"strides", branch.strides},
                      {"pads", branch.pads},
                      {"dilations", branch.dilations},
                      {"group", branch.group}});
  for (const char* activation : branch.activations) y = b.node(activation, {y});
  return y;
}

Graph concatenation(const std::vector<Branch>& branches, int64_t axis = 1) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  std::vector<ValueId> results;
  for (const Branch& branch : branches) results.push_back(add(b, x, branch));
  return b.finish({b.node("Concat", results, {{"axis", axis}})});
}

void expect_refused(const std::vector<Branch>& branches, const std::string& reason) {
  const Transformed result = fuse(concatenation(branches));
  EXPECT_EQ(result.summary.changes, 0) << reason;
  EXPECT_TRUE(refuses(result, reason)) << reason;
}

void expect_left(const Graph& graph) {
  const Transformed result = fuse(graph);
  EXPECT_EQ(result.summary.changes, 0);
  EXPECT_NE(structure(result.graph).find("Concat"), std::string::npos);
}

TEST(ConcatenatedConvolutionFusion, MakesOneOfAFireModulesEnd) {
  const auto result = fuse(concatenation({kPointwise, {}}));
  ASSERT_EQ(structure(result.graph), "FusedConv[relu]");
  const Node& node = result.graph.nodes[0];
  EXPECT_EQ(node.name, "Conv1 + Relu1 + Conv2 + Relu2 + Concat1");
  EXPECT_EQ(result.graph.value(node.inputs[1]).constant->shape(), (Shape{11, 4, 3, 3}));
  EXPECT_EQ(result.graph.value(node.outputs[0]).type.text(), "float32[Nx11x7x6]");
}

TEST(ConcatenatedConvolutionFusion, KeepsTheOrderOfWindowsOfAnyKind) {
  const Branch wide = {.kernel = {1, 3}, .pads = {0, 1, 0, 1}};
  const Branch high = {.kernel = {3, 1}, .pads = {1, 0, 1, 0}};
  for (const auto& branches : {std::vector<Branch>{{}, wide, {}}, {high, {}, {}}, {{}, kPointwise}, {{}, {}}})
    EXPECT_EQ(structure(fuse(concatenation(branches)).graph), "FusedConv[relu]");
  EXPECT_EQ(structure(fuse(concatenation({kPointwise, kPointwise}, -3)).graph), "FusedConv[relu]");
}

/// A window's reads depend on where it begins: padding at its end alone does not decide that.
TEST(ConcatenatedConvolutionFusion, PutsSmallerWindowsWhereTheyRead) {
  const Branch first = {.kernel = {2, 2}, .pads = {0, 0, 1, 1}};
  const Branch second = {.kernel = {2, 2}, .pads = {1, 1, 0, 0}};
  const Branch strided = {.strides = {2, 2}};
  const Branch corner = {.kernel = {2, 2}, .pads = {1, 1, 0, 0}, .strides = {2, 2}};
  for (const auto& branches : {std::vector<Branch>{first, {}}, {second, {}}, {first, second, {}}})
    EXPECT_EQ(structure(fuse(concatenation(branches)).graph), "FusedConv[relu]");
  EXPECT_EQ(structure(fuse(concatenation({strided, corner})).graph), "FusedConv[relu]");
}

TEST(ConcatenatedConvolutionFusion, FillsMissingBiasesAndNeedsNoActivation) {
  const Branch bare = {.bias = false, .activations = {}};
  const Branch biased = {.activations = {}};
  EXPECT_EQ(fuse(concatenation({bare, bare})).graph.nodes[0].has_input(2), false);
  for (const auto& branches : {std::vector<Branch>{bare, biased}, {biased, bare}}) {
    const auto result = fuse(concatenation(branches));
    ASSERT_EQ(structure(result.graph), "Conv");
    EXPECT_TRUE(result.graph.nodes[0].has_input(2));
  }
  const Branch chain = {.activations = {"Relu", "Tanh"}};
  EXPECT_EQ(structure(fuse(concatenation({chain, chain})).graph), "FusedConv[relu,tanh]");
}

TEST(ConcatenatedConvolutionFusion, IsLeftOutUnlessItIsAskedFor) {
  Graph graph = concatenation({kPointwise, {}});
  for (const transform::Summary& summary : transform::optimize(graph)) EXPECT_NE(summary.name, kPass);
  EXPECT_EQ(structure(graph), "FusedConv[relu] FusedConv[relu] Concat");
}

TEST(ConcatenatedConvolutionFusion, RefusesWhatIsNotOneConvolution) {
  expect_refused({{}, {.activations = {"Tanh"}}}, "end differently");
  expect_refused({{}, {.activations = {}}}, "end differently");
  expect_refused({{}, {.pads = {2, 2, 2, 2}, .dilations = {2, 2}}},
                 "has groups, dilations or automatic padding");
  expect_refused({{}, {.filters = 4, .group = 2}}, "has groups, dilations or automatic padding");
  const Branch corner = {.kernel = {2, 2}, .pads = {0, 0, 1, 1}};
  const Branch other_corner = {.kernel = {2, 2}, .pads = {1, 1, 0, 0}};
  expect_refused({corner, other_corner}, "do not lie within those of");
}

/// The changes to a graph that may turn out to be wrong when its symbols are bound.
int64_t changes(const Graph& graph) {
  const Transformed result = apply_passes(graph, {"convolution_fusion", kPass});
  EXPECT_EQ(result.summary.name, kPass);
  return result.summary.changes;
}

/// The operator's rule lets them be where the image's are a symbol.
TEST(ConcatenatedConvolutionFusion, RefusesOtherNumbersOfChannels) {
  for (const bool first_is_wide : {false, true}) {
    GraphBuilder b;
    const ValueId x = b.input("x", {1, Dim::symbol("C"), 8, 8});
    const auto conv = [&](int64_t channels) {
      return b.node("Conv", {x, b.random({4, channels, 3, 3})}, {{"pads", Ints(4, 1)}});
    };
    const ValueId first = conv(first_is_wide ? 4096 : 1);
    const ValueId second = conv(first_is_wide ? 1 : 4096);
    EXPECT_EQ(changes(b.finish({b.node("Concat", {first, second}, {{"axis", int64_t{1}}})})), 0);
  }
}

/// A row more of one result is an error that only the concatenation sees.
TEST(ConcatenatedConvolutionFusion, RefusesOtherNumbersOfWindows) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 4, Dim::symbol("H"), Dim::symbol("W")});
  const ValueId small = b.node("Conv", {x, b.random({16, 4, 1, 1})});
  const ValueId large = b.node("Conv", {x, b.random({16, 4, 3, 3})}, {{"pads", Ints{1, 1, 0, 0}}});
  EXPECT_EQ(changes(b.finish({b.node("Concat", {small, large}, {{"axis", int64_t{1}}})})), 0);
}

TEST(ConcatenatedConvolutionFusion, RefusesMoreProductsThanLaunchesCost) {
  const auto of_height = [](const Dim& height, int64_t kernel) {
    GraphBuilder b;
    const ValueId x = b.input("x", {1, 64, height, 32});
    return b.finish(
        {b.node("Concat", {b.conv(x, 64, 16, kernel), b.conv(x, 64, 16)}, {{"axis", int64_t{1}}})});
  };
  // 8 x 16 products with zeros for each of 64 channels, of 4096 pixels.
  EXPECT_EQ(changes(of_height(128, 1)), 1);
  EXPECT_EQ(changes(of_height(129, 1)), 0);
  EXPECT_EQ(changes(of_height(Dim::symbol("H"), 1)), 0);
  EXPECT_EQ(changes(of_height(Dim::symbol("H"), 3)), 1) << "windows of one size add none";
}

TEST(ConcatenatedConvolutionFusion, RefusesTooManyProductsWithZeros) {
  expect_refused({{.filters = 16, .kernel = {1, 1}, .pads = {0, 0, 0, 0}}, {.filters = 4}},
                 "one convolution would have more than 2 times the products");
  EXPECT_EQ(
      structure(fuse(concatenation({{.filters = 9, .kernel = {1, 1}, .pads = {0, 0, 0, 0}}, {.filters = 7}}))
                    .graph),
      "FusedConv[relu]");
}

TEST(ConcatenatedConvolutionFusion, LeavesWhatOthersReadAndOtherConcatenations) {
  GraphBuilder shared;
  const ValueId x = shared.input("x", kImage);
  const ValueId first = add(shared, x, {});
  const ValueId joined = shared.node("Concat", {first, add(shared, x, {})}, {{"axis", int64_t{1}}});
  expect_left(shared.finish({joined, shared.node("Tanh", {first})}));

  GraphBuilder twice;
  const ValueId again = add(twice, twice.input("x", kImage), {});
  expect_left(twice.finish({twice.node("Concat", {again, again}, {{"axis", int64_t{1}}})}));

  GraphBuilder images;
  const ValueId of_one = add(images, images.input("x", kImage), {});
  const ValueId of_other = add(images, images.input("y", kImage), {});
  expect_left(images.finish({images.node("Concat", {of_one, of_other}, {{"axis", int64_t{1}}})}));

  GraphBuilder pooled;
  const ValueId y = pooled.input("x", kImage);
  const ValueId pool = pooled.node("MaxPool", {y}, {{"kernel_shape", Ints{1, 1}}});
  expect_left(pooled.finish({pooled.node("Concat", {add(pooled, y, {}), pool}, {{"axis", int64_t{1}}})}));

  expect_left(concatenation({{}, {}}, 2));
}

TEST(ConcatenatedConvolutionFusion, RefusesFiltersThatAreComputed) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage);
  const ValueId w = b.node("Neg", {b.input("w", {4, 4, 1, 1})});
  const ValueId plain = b.conv(x, 4, 4, 1);
  const auto result =
      fuse(b.finish({b.node("Concat", {b.node("Conv", {x, w}), plain}, {{"axis", int64_t{1}}})}));
  EXPECT_TRUE(refuses(result, "are not constant"));
}

}  // namespace
}  // namespace hone::test
