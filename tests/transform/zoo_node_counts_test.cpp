// Nodes of the built-in architectures after all passes, counted by hand from torchvision's definitions.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "graph/region.hpp"
#include "import/zoo/zoo.hpp"
#include "transform/pass.hpp"

namespace hone::test {
namespace {

using Counts = std::map<std::string, int>;

struct Architecture {
  const char* name;
  Counts counts;
};

graph::Graph optimized(const char* name, const transform::PassOptions& options = {}) {
  graph::Graph graph = importer::build_architecture(name, {}).value();
  transform::optimize(graph, options);
  return graph;
}

Counts count_nodes(const graph::Graph& graph) {
  Counts counts;
  for (const graph::Node& node : graph.nodes) ++counts[graph::kind_of(node)];
  return counts;
}

class ZooNodeCounts : public testing::TestWithParam<Architecture> {};

TEST_P(ZooNodeCounts, AreThoseOfTheDefinition) {
  EXPECT_EQ(count_nodes(optimized(GetParam().name)), GetParam().counts);
}

// resnet50: a stem convolution, then 3 + 4 + 6 + 3 bottlenecks of three convolutions, each followed by a Relu
// (the third after the addition of the shortcut). The shortcut of the first bottleneck of each of the four
// stages is a convolution with nothing behind it.
constexpr int kBottlenecks = 3 + 4 + 6 + 3;

// mobilenet_v2: a stem, 17 inverted residuals and a last convolution. The first residual has no expansion. A
// projection has no activation; the 1 + 2 + 3 + 2 + 2 repeats within a stage add their input to it.
constexpr int kResiduals = 17;
constexpr int kMobileShortcuts = 1 + 2 + 3 + 2 + 2;

// efficientnet_b0: a stem, 16 blocks and a head convolution. A block has an expansion (not the first one), a
// depthwise convolution, squeeze and excitation (mean, two convolutions with activations, a product) and a
// projection without activation; the 1 + 1 + 2 + 2 + 3 repeats within a stage add their input to it.
constexpr int kBlocks = 1 + 2 + 2 + 3 + 3 + 4 + 1;
constexpr int kEfficientShortcuts = 1 + 1 + 2 + 2 + 3;

// densenet121: a stem, 6 + 12 + 24 + 16 layers of BatchNorm, Relu, 1x1 convolution, BatchNorm, Relu, 3x3
// convolution. The first BatchNorm reads a concatenation (none in front of a block's first layer, one more
// behind its last), so it stays, with its Relu; the second goes into the convolution. Three transitions are
// BatchNorm, Relu, convolution, mean of 2x2; one more BatchNorm and Relu ends it.
constexpr int kLayers = 6 + 12 + 24 + 16;
constexpr int kTransitions = 3;

TEST(ZooNodeCountsOnRequest, SqueezeAndExcitationIsOneNodeEach) {
  EXPECT_EQ(count_nodes(optimized("efficientnet_b0", {.requested = {"squeeze_excite_fusion"}})),
            (Counts{{"FusedConv", 1 + (2 * kBlocks - 1) + kEfficientShortcuts + 1},
                    {"Conv", kBlocks - kEfficientShortcuts},
                    {"squeeze_excite", kBlocks},
                    {"GlobalAveragePool", 1},
                    {"Flatten", 1},
                    {"Gemm", 1}}));
}

/// squeezenet1_1: a stem, eight fire modules of a squeezing convolution and two expanding ones that are
/// concatenated, and a classifying convolution.
TEST(ZooNodeCountsOnRequest, FireModulesEndInOneConvolutionEach) {
  EXPECT_EQ(count_nodes(optimized("squeezenet1_1", {.requested = {"concatenated_convolution_fusion"}})),
            (Counts{{"FusedConv", 1 + 8 * 2 + 1}, {"MaxPool", 3}, {"GlobalAveragePool", 1}, {"Flatten", 1}}));
}

/// Images of the first stage alone are wide enough, and channels as many as the kernel takes. The node of the
/// first of its three bottlenecks holds four convolutions, each other one three.
TEST(ZooNodeCountsOnRequest, BottlenecksOfTheFirstStageAreOneNodeEach) {
  for (const auto& [name, bottlenecks] :
       {std::pair("resnet50", kBottlenecks), {"resnet101", 3 + 4 + 23 + 3}}) {
    const graph::Graph graph = optimized(name, {.requested = {"bottleneck_fusion"}});
    EXPECT_EQ(count_nodes(graph), (Counts{{"FusedConv", 1 + 3 * bottlenecks - 3 * 3},
                                          {"Conv", 4 - 1},
                                          {"bottleneck", 3},
                                          {"MaxPool", 1},
                                          {"GlobalAveragePool", 1},
                                          {"Flatten", 1},
                                          {"Gemm", 1}}))
        << name;
    std::vector<std::string> forms;
    for (const graph::Node& node : graph.nodes) {
      if (graph::kind_of(node) != "bottleneck") continue;
      forms.push_back(fmt::format("{}{}", graph.value(node.outputs[1]).type.text(),
                                  graph::find_part(node, "project") != nullptr ? ", projected" : ""));
    }
    EXPECT_EQ(forms, (std::vector<std::string>{"float32[batchx64x56x56], projected",
                                               "float32[batchx64x56x56]", "float32[batchx128x56x56]"}));
  }
}

/// Bottlenecks of the second and third stage, except those that begin a stage; the node of a stage's last has
/// no convolution of the next one.
TEST(ZooNodeCountsOnRequest, BottlenecksWithinTheMiddleStagesAreOneNodeEach) {
  for (const auto& [name, third_stage] : {std::pair("resnet50", 6), {"resnet101", 23}}) {
    const int fused = 4 - 1 + third_stage - 1;
    Counts counts = count_nodes(optimized(name));
    counts["FusedConv"] -= 3 * fused - 2;
    counts["bottleneck"] = fused;
    EXPECT_EQ(count_nodes(optimized(name, {.requested = {"cluster_bottleneck_fusion"}})), counts) << name;
  }
}

TEST(ZooNodeCountsOnRequest, StemsOfBottlenecksTakeTheFirstConvolutionBehindThem) {
  for (const auto& [name, fused] : {std::pair("resnet50", true), {"resnet18", false}}) {
    Counts counts = count_nodes(optimized(name, {.requested = {"pool_fusion"}}));
    if (fused) {
      counts.erase("conv_max_pool");
      counts["stem"] = 1;
      --counts["FusedConv"];
    }
    EXPECT_EQ(count_nodes(optimized(name, {.requested = {"pool_fusion", "stem_fusion"}})), counts) << name;
  }
}

/// Each stage behind the first has a projected shortcut; that of ResNet-50's first stage is in a bottleneck's
/// node already.
TEST(ZooNodeCountsOnRequest, ProjectedShortcutsAreAddedInOneNode) {
  for (const char* name : {"resnet18", "resnet50"}) {
    Counts counts = count_nodes(optimized(name, {.requested = {"bottleneck_fusion"}}));
    counts["FusedConv"] -= 3;
    counts.erase("Conv");
    counts["conv_sum"] = 3;
    EXPECT_EQ(count_nodes(optimized(name, {.requested = {"bottleneck_fusion", "convolution_sum_fusion"}})),
              counts)
        << name;
  }
  EXPECT_EQ(count_nodes(optimized("mobilenet_v2", {.requested = {"convolution_sum_fusion"}})),
            count_nodes(optimized("mobilenet_v2")));
}

/// Images of 7 x 7 pixels. SqueezeNet's have 13 x 13, and what DenseNet pools is a Relu's.
TEST(ZooNodeCountsOnRequest, TheLastConvolutionTakesItsPool) {
  for (const char* name : {"resnet18", "resnet50", "mobilenet_v2", "efficientnet_b0"}) {
    Counts counts = count_nodes(optimized(name));
    --counts["FusedConv"];
    if (--counts["GlobalAveragePool"] == 0) counts.erase("GlobalAveragePool");
    counts["conv_global_pool"] = 1;
    EXPECT_EQ(count_nodes(optimized(name, {.requested = {"global_pool_fusion"}})), counts) << name;
  }
  for (const char* name : {"squeezenet1_1", "densenet121"})
    EXPECT_EQ(count_nodes(optimized(name, {.requested = {"global_pool_fusion"}})),
              count_nodes(optimized(name)))
        << name;
}

TEST(ZooNodeCountsOnRequest, NarrowBottlenecksStay) {
  EXPECT_EQ(count_nodes(optimized("resnet34", {.requested = {"bottleneck_fusion"}})),
            count_nodes(optimized("resnet34")));
}

INSTANTIATE_TEST_SUITE_P(
    Torchvision, ZooNodeCounts,
    testing::Values(Architecture{"resnet50",
                                 {{"FusedConv", 1 + 3 * kBottlenecks},
                                  {"Conv", 4},
                                  {"MaxPool", 1},
                                  {"GlobalAveragePool", 1},
                                  {"Flatten", 1},
                                  {"Gemm", 1}}},
                    Architecture{"mobilenet_v2",
                                 {{"FusedConv", 1 + (2 * kResiduals - 1) + kMobileShortcuts + 1},
                                  {"Conv", kResiduals - kMobileShortcuts},
                                  {"GlobalAveragePool", 1},
                                  {"Flatten", 1},
                                  {"Gemm", 1}}},
                    Architecture{"efficientnet_b0",
                                 {{"FusedConv", 1 + (4 * kBlocks - 1) + kEfficientShortcuts + 1},
                                  {"Conv", kBlocks - kEfficientShortcuts},
                                  {"Mul", kBlocks},
                                  {"GlobalAveragePool", kBlocks + 1},
                                  {"Flatten", 1},
                                  {"Gemm", 1}}},
                    Architecture{"densenet121",
                                 {{"FusedConv", 1 + kLayers},
                                  {"Conv", kLayers + kTransitions},
                                  {"FusedElementwise", kLayers + kTransitions + 1},
                                  {"Concat", kLayers},
                                  {"MaxPool", 1},
                                  {"AveragePool", kTransitions},
                                  {"GlobalAveragePool", 1},
                                  {"Flatten", 1},
                                  {"Gemm", 1}}}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hone::test
