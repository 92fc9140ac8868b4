// Bottlenecks of 128 and 256 channels become one node where that is asked for and an image's blocks run at
// once.
#include "device/cuda/passes/bottleneck.hpp"

namespace hone::test {
namespace {

constexpr const char* kPass = "cluster_bottleneck_fusion";
constexpr const char* kApart = "FusedConv[relu] FusedConv[add,relu] FusedConv[relu]";

Parts parts_of(int64_t channels, Dim height, Dim width) {
  Parts parts{.image = {Dim::symbol("N"), channels, std::move(height), std::move(width)}};
  parts.window.filters = {channels, channels, 3, 3};
  parts.expand.filters = {4 * channels, channels, 1, 1};
  parts.projection.filters = {4 * channels, channels, 1, 1};
  parts.next.filters = {channels, 4 * channels, 1, 1};
  return parts;
}

std::string fused(const Parts& parts) { return structure(fuse_bottlenecks(bottleneck(parts), kPass).graph); }

void expect_refused(const Parts& parts, const std::string& text) {
  const auto result = fuse_bottlenecks(bottleneck(parts), kPass);
  EXPECT_EQ(structure(result.graph), kApart);
  EXPECT_TRUE(refuses(result, text)) << text;
}

TEST(ClusterBottleneckFusion, TakesTheStagesOfResNet) {
  EXPECT_EQ(fused(parts_of(128, 2, 28)), "bottleneck");
  EXPECT_EQ(fused(parts_of(256, 2, 14)), "bottleneck");
}

TEST(ClusterBottleneckFusion, LeavesOtherChannelsAlone) {
  EXPECT_EQ(fused(parts_of(64, 2, 56)), kApart);
  EXPECT_EQ(fused(parts_of(96, 2, 28)), kApart);
}

TEST(ClusterBottleneckFusion, DoesWithoutTheNextConvolutionWhereThatIsNone) {
  for (const int64_t channels : {128, 256}) {
    Parts parts = parts_of(channels, 2, channels == 128 ? 28 : 14);
    parts.next.filters[0] = 2 * channels;
    const auto result = fuse_bottlenecks(bottleneck(parts), kPass);
    ASSERT_EQ(structure(result.graph), "bottleneck FusedConv[relu]");
    EXPECT_EQ(result.graph.nodes[0].name, "Conv1 + Relu1 + Conv2 + Add1 + Relu2");
    EXPECT_EQ(result.graph.nodes[0].outputs.size(), 1u);
    EXPECT_EQ(result.graph.nodes[0].inputs.size(), 6u);
  }
  Parts strided = parts_of(128, 2, 28);
  strided.next.attributes = {{"strides", Ints{2, 2}}};
  EXPECT_EQ(fused(strided), "bottleneck FusedConv[relu]");
  GraphBuilder b;
  EXPECT_EQ(
      structure(fuse_bottlenecks(b.finish({add_bottleneck(b, parts_of(128, 2, 28)).wide}), kPass).graph),
      "bottleneck");
}

TEST(ClusterBottleneckFusion, LeavesProjectionsAlone) {
  Parts parts = parts_of(128, 2, 28);
  parts.projects = true;
  EXPECT_EQ(fused(parts), "FusedConv[relu] Conv FusedConv[add,relu] FusedConv[relu]");
}

TEST(ClusterBottleneckFusion, RefusesImagesOfWhichTilesAreEmptyOrTooMany) {
  expect_refused(parts_of(128, 2, 20), "1 rows of 20 pixels fill less than three quarters of tiles of 32");
  expect_refused(parts_of(128, 2, 33), "0 rows of 33 pixels fill less than three quarters of tiles of 32");
  expect_refused(parts_of(256, 2, 28), "rows of 28 pixels are too long for 256 channels");
  expect_refused(parts_of(128, 33, 28), "an image takes 132 blocks, and only 128 surely run at once");
  expect_refused(parts_of(256, 17, 14), "an image takes 144 blocks");
  expect_refused(parts_of(128, Dim::symbol("H"), 28), "the height of its images is not known");
  expect_refused(parts_of(128, 2, Dim::symbol("W")), "the width of its images is not known");
}

TEST(ClusterBottleneckFusion, IsLeftOutUnlessItIsAskedFor) {
  EXPECT_EQ(structure(fuse_bottlenecks(bottleneck(parts_of(128, 2, 28))).graph), kApart);
}

}  // namespace
}  // namespace hone::test
