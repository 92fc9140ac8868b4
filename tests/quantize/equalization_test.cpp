// Equalized models compute what the originals do, where they can be equalized at all.
#include "quantize/equalization.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "quantize/float_graph.hpp"
#include "quantize/selection.hpp"
#include "support/graph_builder.hpp"
#include "tensor/metrics.hpp"

namespace hone::quantize {
namespace {

using graph::Graph;
using test::Dim;
using test::GraphBuilder;
using test::Tensor;
using test::ValueId;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int64_t kSide = 6;

ValueId image(GraphBuilder& b, int64_t channels) {
  return b.input("x", {Dim(1), Dim(channels), Dim(kSide), Dim(kSide)});
}

std::vector<Samples> samples_for(const Graph& graph, int count = 4) {
  tensor::Shape shape;
  for (const Dim& dim : *graph.value(graph.inputs[0]).type.dims) shape.push_back(dim.value());
  std::vector<Samples> samples;
  for (int i = 0; i < count; ++i)
    samples.push_back({{test::random_tensor(shape, static_cast<uint32_t>(i) + 1, -2, 2)}, 1, {"given"}});
  return samples;
}

/// Any factors leave the model's results as they are.
size_t sites_that_keep_results(const Graph& model) {
  const Graph graph = float_graph(model);
  const Placement placement = place(graph);
  const auto sites = equalization_sites(graph, placement);
  Equalization equalization;
  for (const EqualizationSite& site : sites) {
    EqualizedValue value{graph.value(site.value).name, {}};
    for (int64_t c = 0; c < site.channels; ++c) value.factors.push_back(std::pow(3.0, (c * 5 + 2) % 7 - 3));
    equalization.push_back(value);
  }
  const Graph equalized = with_equalization(graph, placement, equalization);
  EXPECT_EQ(place(equalized).weighted.size(), placement.weighted.size());
  const auto inputs = samples_for(graph, 1)[0].inputs;
  const Tensor expected = make_reference_runner(graph, inputs)->run(inputs)[0];
  const Tensor actual = make_reference_runner(equalized, inputs)->run(inputs)[0];
  EXPECT_LT(tensor::relative_l2(actual, expected), 1e-5);
  if (!sites.empty()) {
    const auto changed = with_equalization(graph, placement, {equalization.front()});
    EXPECT_NE(fingerprint_of(changed), fingerprint_of(graph));
  }
  return sites.size();
}

TEST(Equalization, PassesWhatAPositiveFactorPasses) {
  const std::vector<int64_t> two = {2, 2};
  for (const char* op : {"Relu", "LeakyRelu", "Abs", "Neg", "MaxPool", "AveragePool", "LpPool",
                         "GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"}) {
    GraphBuilder b;
    const ValueId a = b.conv(image(b, 3), 3, 8);
    const bool pools = std::string(op).ends_with("Pool") && op[0] != 'G';
    const ValueId c = pools ? b.node(op, {a}, {{"kernel_shape", two}}) : b.node(op, {a});
    EXPECT_EQ(sites_that_keep_results(b.finish({b.conv(c, 8, 4, 1)})), 1U) << op;
  }
}

TEST(Equalization, GoesThroughChainsWithDepthwiseLayersAndBiases) {
  GraphBuilder b;
  ValueId x = b.node("Relu", {b.batch_norm(b.conv(image(b, 3), 3, 8), 8)});
  x = b.node("Relu", {b.batch_norm(b.conv(x, 8, 8, 3, 8), 8)});
  EXPECT_EQ(sites_that_keep_results(b.finish({b.conv(x, 8, 4, 1)})), 2U);
}

TEST(Equalization, LeavesWhatAFactorDoesNotPass) {
  for (const char* op : {"Sigmoid", "Tanh", "HardSwish", "Elu"}) {
    GraphBuilder b;
    EXPECT_EQ(sites_that_keep_results(b.finish({b.conv(b.node(op, {b.conv(image(b, 3), 3, 8)}), 8, 4)})), 0U)
        << op;
  }
  // ReLU6 has a border that does not move with the factor.
  GraphBuilder clip;
  const ValueId six = clip.node("Clip", {clip.conv(image(clip, 3), 3, 8), clip.scalar(0), clip.scalar(6)});
  EXPECT_EQ(sites_that_keep_results(clip.finish({clip.conv(six, 8, 4)})), 0U);
  // Two readers.
  GraphBuilder residual;
  const ValueId a = residual.conv(image(residual, 3), 3, 8);
  EXPECT_EQ(sites_that_keep_results(residual.finish({residual.node("Add", {residual.conv(a, 8, 8), a})})),
            0U);
  // An output of the model.
  GraphBuilder output;
  const ValueId o = output.conv(image(output, 3), 3, 8);
  EXPECT_EQ(sites_that_keep_results(output.finish({output.conv(o, 8, 8), o})), 0U);
  // Groups of channels that are mixed within.
  GraphBuilder groups;
  EXPECT_EQ(
      sites_that_keep_results(groups.finish({groups.conv(groups.conv(image(groups, 3), 3, 8), 8, 8, 3, 2)})),
      0U);
}

TEST(Equalization, LeavesWeightsThatOthersShare) {
  GraphBuilder b;
  const ValueId weights = b.random({4, 4, 1, 1});
  const ValueId x = image(b, 4);
  const ValueId first = b.node("Relu", {b.node("Conv", {x, weights})});
  const ValueId second = b.node("Conv", {first, weights});
  EXPECT_EQ(sites_that_keep_results(b.finish({b.node("Add", {second, b.node("Conv", {x, weights})})})), 1U);
}

TEST(Equalization, SmoothsLayerNormalizationsInBothForms) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim(2), Dim(5), Dim(8)});
  const ValueId norm = b.node("LayerNormalization", {x, b.random({8}), b.random({8})});
  const ValueId q = b.node("MatMul", {norm, b.random({8, 4})});
  const ValueId k = b.node("MatMul", {norm, b.random({8, 4})});
  const ValueId scaled =
      b.node("Add", {b.node("Mul", {b.node("Sub", {x, b.scalar(1)}), b.random({8})}), b.random({8})});
  const ValueId v = b.node("MatMul", {scaled, b.random({8, 4})});
  EXPECT_EQ(sites_that_keep_results(b.finish({b.node("Add", {b.node("Mul", {q, k}), v})})), 2U);
}

TEST(Equalization, DoesNotSmoothWhatIsReadInFloatingPointToo) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim(2), Dim(8)});
  const ValueId norm = b.node("LayerNormalization", {x, b.random({8}), b.random({8})});
  EXPECT_EQ(
      sites_that_keep_results(b.finish({b.node("Add", {b.node("MatMul", {norm, b.random({8, 8})}), norm})})),
      0U);
  // One number for all channels is no gain of each.
  GraphBuilder s;
  const ValueId y = s.input("x", {Dim(2), Dim(8)});
  const ValueId one = s.node("Add", {s.node("Mul", {y, s.scalar(2)}), s.random({8})});
  EXPECT_EQ(sites_that_keep_results(s.finish({s.node("MatMul", {one, s.random({8, 8})})})), 0U);
}

TEST(Equalization, CrossLayerFactorsMakeBothRangesOne) {
  GraphBuilder b;
  const ValueId a =
      b.node("Conv", {image(b, 1), b.constant(Tensor::of<float>({8, 0.5F, 0, 3}, {4, 1, 1, 1}))});
  const Graph graph = b.finish(
      {b.node("Conv", {b.node("Relu", {a}), b.constant(Tensor::of<float>({0.5F, -2, 7, 0}, {1, 4, 1, 1}))})});
  const auto sites = equalization_sites(graph, place(graph));
  const Equalization found = cross_layer_factors(graph, sites);
  ASSERT_THAT(found, SizeIs(1));
  // sqrt(8 / 0.5), sqrt(0.5 / 2); without weights on one side nothing is moved.
  EXPECT_THAT(found[0].factors, testing::ElementsAre(4, 0.5, 1, 1));
}

TEST(Equalization, SmoothFactorsAreThoseOfThePaper) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim(2), Dim(2)});
  const ValueId norm = b.node("LayerNormalization", {x, b.random({2}), b.random({2})});
  const Graph graph =
      b.finish({b.node("MatMul", {norm, b.constant(Tensor::of<float>({1, -4, 9, 0}, {2, 2}))})});
  const auto sites = equalization_sites(graph, place(graph));
  ASSERT_THAT(sites, SizeIs(1));
  EXPECT_THAT(smooth_factors(graph, sites, {{16, 1}}, 0.5)[0].factors,
              testing::ElementsAre(testing::DoubleNear(2, 1e-9), testing::DoubleNear(1.0 / 3, 1e-9)));
  EXPECT_THAT(smooth_factors(graph, sites, {{0, 1}}, 1)[0].factors, testing::ElementsAre(1, 1));
}

TEST(Equalization, IsChosenWhereAChannelDrownsTheOthers) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim(4), Dim(16)});
  std::vector<float> gain(16, 1);
  gain[3] = 200;
  std::vector<float> weights;
  for (int i = 0; i < 16 * 8; ++i)
    weights.push_back(static_cast<float>((i * 7 % 11) - 5) / (i / 8 == 3 ? 1000 : 5));
  const ValueId norm =
      b.node("LayerNormalization", {x, b.constant(Tensor::of<float>(gain, {16})), b.filled({16}, 0)});
  const Graph graph = b.finish({b.node("MatMul", {norm, b.constant(Tensor::of<float>(weights, {16, 8}))})});
  const auto samples = samples_for(graph);
  const Equalization found = choose_equalization(graph, place(graph), samples, make_reference_runner, {});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_GT(found[0].factors[3], 10 * found[0].factors[0]);
}

TEST(Equalization, IsNotChosenWhereThereIsNothingToGain) {
  GraphBuilder b;
  const Graph graph = b.finish({b.conv(b.node("Sigmoid", {b.conv(image(b, 3), 3, 8)}), 8, 4)});
  EXPECT_THAT(choose_equalization(graph, place(graph), samples_for(graph), make_reference_runner, {}),
              IsEmpty());
}

TEST(Equalization, RefusesFactorsThatDoNotFit) {
  GraphBuilder b;
  const Graph graph = b.finish({b.conv(b.node("Relu", {b.conv(image(b, 3), 3, 4)}), 4, 4)});
  const Placement placement = place(graph);
  const std::string name = graph.value(equalization_sites(graph, placement)[0].value).name;
  const auto refusal = [&](const Equalization& equalization) -> std::string {
    try {
      with_equalization(graph, placement, equalization);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(refusal({{"nobody", {1, 1, 1, 1}}}), HasSubstr("'nobody' cannot be equalized"));
  EXPECT_THAT(refusal({{name, {1, 1, 1}}}), HasSubstr("4 channels, and factors to equalize 3"));
  for (const double bad : {0.0, -1.0, 1e9, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THAT(refusal({{name, {1, bad, 1, 1}}}), HasSubstr("not between"));
}

}  // namespace
}  // namespace hone::quantize
