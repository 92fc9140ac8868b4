// Transposed convolutions as convolutions, over what a ConvTranspose can be.
#include <gmock/gmock.h>

#include <chrono>

#include "support/passes.hpp"

namespace hone::test {
namespace {

using Ints = std::vector<int64_t>;
using testing::HasSubstr;

constexpr const char* kPass = "transposed_convolution_lowering";

struct Case {
  const char* structure;
  Dims image;
  Ints kernel, strides, pads;
  Ints dilations = {};
  Ints output_padding = {};
  int64_t group = 1;
  const char* auto_pad = "NOTSET";
};

Graph transposed(const Case& test, const char* activation = nullptr) {
  GraphBuilder b;
  constexpr int64_t kChannels = 16;
  Dims input = {Dim::symbol("N"), kChannels};
  input.insert(input.end(), test.image.begin(), test.image.end());
  tensor::Shape filters = {kChannels, 8 / test.group};
  filters.insert(filters.end(), test.kernel.begin(), test.kernel.end());
  std::vector<std::pair<std::string, graph::Attribute>> attributes = {
      {"strides", test.strides}, {"group", test.group}, {"auto_pad", std::string(test.auto_pad)}};
  if (!test.pads.empty()) attributes.emplace_back("pads", test.pads);
  if (!test.dilations.empty()) attributes.emplace_back("dilations", test.dilations);
  if (!test.output_padding.empty()) attributes.emplace_back("output_padding", test.output_padding);
  ValueId y = b.node("ConvTranspose", {b.input("x", input), b.random(filters), b.random({8})}, attributes);
  if (activation != nullptr) y = b.node(activation, {y});
  return b.finish({y});
}

TEST(TransposedConvolution, MultipliesNoMoreThanAnOutputNeeds) {
  // Outputs before the first one are cut off; with them each window would be 3 x 3.
  const Graph graph = check_pass(transposed({"", {8, 8}, {4, 4}, {2, 2}, {1, 1, 1, 1}}), kPass).graph;
  const tensor::Tensor& filters = *graph.constant(graph.nodes[0].inputs[1]);
  EXPECT_EQ(filters.shape(), (tensor::Shape{32, 16, 2, 2}));
}

TEST(TransposedConvolution, IsAConvolutionWhoseOutputsMove) {
  const Dim h = Dim::symbol("H");
  const Case cases[] = {
      {"Conv DepthToSpace", {5, 7}, {2, 2}, {2, 2}, {}},
      {"Conv DepthToSpace Slice", {5, 7}, {4, 4}, {2, 2}, {1, 1, 1, 1}},
      {"Conv DepthToSpace Slice", {h, h}, {4, 4}, {2, 2}, {1, 1, 1, 1}, {}, {1, 1}},
      {"Conv DepthToSpace Slice", {5, 6}, {6, 6}, {3, 3}, {2, 2, 1, 1}},
      {"Conv DepthToSpace Slice", {5, 6}, {4, 4}, {2, 2}, {3, 3, 1, 1}},
      {"Conv DepthToSpace", {5, 7}, {3, 3}, {2, 2}, {1, 1, 1, 1}, {}, {1, 1}},
      {"Conv DepthToSpace Slice", {5, 7}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
      {"Conv DepthToSpace Slice", {5, 7}, {3, 5}, {2, 2}, {0, 1, 0, 2}},
      {"Conv DepthToSpace Slice", {h, h}, {5, 5}, {3, 3}, {1, 0, 1, 1}},
      {"Conv DepthToSpace Slice", {h, 6}, {4, 4}, {2, 2}, {1, 1, 1, 1}, {}, {}, 2},
      {"Conv DepthToSpace Slice", {5, 7}, {3, 3}, {2, 2}, {2, 2, 2, 2}, {2, 2}},
      {"Conv DepthToSpace", {5, 7}, {3, 3}, {2, 2}, {}, {}, {}, 1, "SAME_UPPER"},
      {"Conv DepthToSpace Slice", {5, 7}, {4, 3}, {2, 2}, {}, {}, {}, 1, "SAME_LOWER"},
      {"Conv DepthToSpace Slice", {5, 7}, {3, 3}, {2, 2}, {}, {}, {}, 1, "VALID"},
      {"Conv", {5, 7}, {3, 3}, {1, 1}, {1, 1, 1, 1}},
      {"Conv", {5, 7}, {3, 2}, {1, 1}, {0, 0, 2, 1}, {2, 1}},
      {"Conv Reshape Transpose Reshape Slice", {9}, {8}, {4}, {2, 2}},
      {"Conv Reshape Transpose Reshape Slice", {9}, {7}, {4}, {1, 0}, {}, {}, 2},
      {"Conv Reshape Transpose Reshape Slice", {5, 7}, {4, 3}, {2, 1}, {1, 1, 1, 1}},
      {"Conv Reshape Transpose Reshape", {3, 4, 2}, {2, 2, 2}, {2, 2, 2}, {}},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(fmt::format("{} kernel {} strides {} pads {}", test.structure, fmt::join(test.kernel, "x"),
                             fmt::join(test.strides, "x"), fmt::join(test.pads, ",")));
    EXPECT_EQ(structure(check_pass(transposed(test), kPass).graph), test.structure);
  }
}

TEST(TransposedConvolution, EverySmallGeometry) {
  for (int64_t kernel = 1; kernel <= 4; ++kernel) {
    for (int64_t stride = 1; stride <= 3; ++stride) {
      for (int64_t pads = 0; pads < 9; ++pads) {
        for (int64_t extra = 0; extra < stride; ++extra) {
          const Case test{"", {9}, {kernel}, {stride}, {pads / 3, pads % 3}, {}, {extra}};
          SCOPED_TRACE(fmt::format("kernel {} stride {} pads {} {} output padding {}", kernel, stride,
                                   pads / 3, pads % 3, extra));
          check_pass(transposed(test), kPass);
        }
      }
    }
  }
}

TEST(TransposedConvolution, TakesNoLongerForWideWindows) {
  constexpr int64_t kWide = 100000;
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 1, 2});
  const Graph graph =
      b.finish({b.node("ConvTranspose", {x, b.random({1, 1, kWide})}, {{"strides", Ints{kWide}}})});
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(structure(apply_passes(graph, {kPass}).graph), "Conv Reshape Transpose Reshape");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
  GraphBuilder weightless;
  const ValueId w = weightless.constant(Tensor(DType::kFloat32, {0, 1, int64_t{1} << 40}));
  const ValueId none = weightless.node("ConvTranspose", {weightless.input("x", {1, 0, 2}), w});
  EXPECT_EQ(structure(apply_passes(weightless.finish({none}), {kPass}).graph), "ConvTranspose");
}

TEST(TransposedConvolution, LeavesNothingForASecondRun) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim::symbol("N"), 4, 9});
  const auto grown = [&] {
    const ValueId y =
        b.node("ConvTranspose", {x, b.random({4, 6, 4})}, {{"strides", Ints{2}}, {"pads", Ints{1, 1}}});
    return b.node("Reshape", {y, b.ints({0, 3, 36})});
  };
  Graph graph =
      b.finish({b.node("MatMul", {grown(), b.node("Transpose", {grown()}, {{"perm", Ints{0, 2, 1}}})})});
  transform::optimize(graph);
  for (const transform::Summary& summary : transform::optimize(graph))
    EXPECT_EQ(summary.changes, 0) << summary.name;
}

TEST(TransposedConvolution, TakesItsActivationAlong) {
  const Case test{"", {5, 7}, {2, 2}, {2, 2}, {}};
  EXPECT_EQ(structure(check_pass(transposed(test, "Relu"), kPass).graph), "Conv Relu DepthToSpace");
  EXPECT_EQ(structure(apply_passes(transposed(test, "Relu"), {kPass, "convolution_fusion"}).graph),
            "FusedConv[relu] DepthToSpace");
  EXPECT_EQ(structure(check_pass(transposed(test, "Softmax"), kPass).graph), "Conv DepthToSpace Softmax");
}

TEST(TransposedConvolution, StaysWhereMostWeightsWouldBeZerosOrAreNotKnown) {
  const Case sparse{"", {5, 7}, {1, 1}, {3, 3}, {}};
  const auto kept = check_pass(transposed(sparse), kPass);
  EXPECT_EQ(structure(kept.graph), "ConvTranspose");
  EXPECT_THAT(kept.summary.refusals, testing::Contains(HasSubstr("zeros")));
  const Case small_groups{"", {5, 7}, {2, 2}, {2, 2}, {}, {}, {}, 4};
  const Case far{"", {5, 7}, {3, 3}, {int64_t{1} << 40, 1}, {}};
  EXPECT_EQ(structure(apply_passes(transposed(far), {kPass}).graph), "ConvTranspose");
  EXPECT_EQ(structure(check_pass(transposed(small_groups), kPass).graph), "ConvTranspose");
  const Case empty{"", {0, 7}, {4, 4}, {2, 2}, {}, {}, {}, 1, "SAME_UPPER"};
  EXPECT_EQ(structure(check_pass(transposed(empty), kPass).graph), "ConvTranspose");
  GraphBuilder b;
  const ValueId y = b.node("ConvTranspose", {b.input("x", {1, 4, 5, 5}), b.input("w", {4, 6, 2, 2})},
                           {{"strides", Ints{2, 2}}});
  EXPECT_EQ(structure(check_pass(b.finish({y}), kPass).graph), "ConvTranspose");
}

}  // namespace
}  // namespace hone::test
