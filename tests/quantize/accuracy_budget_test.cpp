// Which layers go back to floating point, and what their effects are measured to be.
#include "quantize/accuracy_budget.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "quantize/calibration.hpp"
#include "quantize/float_graph.hpp"
#include "quantize/selection.hpp"
#include "support/graph_builder.hpp"

namespace hone::quantize {
namespace {

using graph::Graph;
using test::Dim;
using test::GraphBuilder;
using test::Tensor;
using test::ValueId;
using testing::ElementsAre;
using testing::IsEmpty;

/// Three convolutions in a row, the last of which has a filter that 8 bits do badly: a channel that counts
/// reads small numbers beside large ones.
Graph chain(bool classes = false) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim::symbol("n"), Dim(3), Dim(6), Dim(6)});
  const ValueId a = b.node("Relu", {b.conv(x, 3, 8)});
  const ValueId c = b.node("Relu", {b.conv(a, 8, 8)});
  const ValueId d = b.conv(c, 8, 4);
  if (!classes) return b.finish({d});
  return b.finish({b.node("Flatten", {b.node("GlobalAveragePool", {d})})});
}

/// Residual additions of two kinds, pooling, concatenation and a classifier.
Graph tangle() {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim::symbol("n"), Dim(3), Dim(8), Dim(8)});
  const ValueId a = b.node("Relu", {b.conv(x, 3, 8)});
  const ValueId c = b.node("Relu", {b.node("Add", {b.conv(a, 8, 8), a})});
  const ValueId d = b.node("Relu", {b.node("Add", {b.conv(c, 8, 8, 1), b.conv(c, 8, 8)})});
  const std::vector<int64_t> two = {2, 2};
  const ValueId p = b.node("MaxPool", {d}, {{"kernel_shape", two}, {"strides", two}});
  const ValueId q = b.node("AveragePool", {d}, {{"kernel_shape", two}, {"strides", two}});
  const ValueId both = b.node("Concat", {p, q}, {{"axis", int64_t{1}}});
  const ValueId e = b.conv(both, 16, 8);
  return b.finish(
      {b.node("Gemm", {b.node("Flatten", {b.node("GlobalAveragePool", {e})}), b.random({8, 5})})});
}

struct Prepared {
  explicit Prepared(const Graph& model) : graph(float_graph(model)), placement(place(graph)) {
    tensor::Shape shape;
    for (const Dim& dim : *graph.value(graph.inputs[0]).type.dims)
      shape.push_back(dim.known() ? dim.value() : 1);
    DataOptions options;
    for (uint32_t i = 0; i < 4; ++i) options.given.push_back({test::random_tensor(shape, i + 1, -2, 2)});
    CalibrationData data(graph, options);
    Calibration calibration = begin_calibration(graph, placement, options);
    calibrate(graph, data, make_reference_runner, {}, calibration);
    scales = scales_of(ranges_by(Calibrator::kMinmax, placement, calibration, {}), placement, calibration,
                       Target::kPortable);
    for (const auto& given : options.given) samples.push_back({given, 1, {"given"}});
  }
  QuantizedForm form() const { return {graph, placement, rules, scales, qdq}; }

  Graph graph;
  Placement placement;
  PlacementRules rules;
  std::vector<ActivationScale> scales;
  QdqOptions qdq;
  std::vector<Samples> samples;
};

BudgetResult result_for(const Prepared& p, double loss, const TimeNodes& time_nodes = {}) {
  const Evaluator evaluator(p.graph, p.samples, {}, make_reference_runner);
  return within_budget(p.form(), evaluator, p.samples, {}, make_reference_runner,
                       {loss, time_nodes, {}, nullptr});
}

const MixedModel& chosen(const BudgetResult& result) { return result.choice.tried[result.choice.chosen]; }

TEST(AccuracyBudget, WhatIsKeptLeavesASubsetForEverySetOfLayers) {
  const Graph graph = float_graph(tangle());
  const Placement all = place(graph);
  ASSERT_EQ(all.weighted.size(), 6u);
  for (unsigned mask = 0; mask < 64; ++mask) {
    std::set<int32_t> kept;
    for (size_t i = 0; i < 6; ++i) {
      if ((mask >> i & 1U) != 0) kept.insert(all.weighted[i].node);
    }
    const Placement some = place(graph, {.kept = kept});
    EXPECT_EQ(some.weighted.size(), 6 - kept.size());
    EXPECT_LE(some.int8_share, all.int8_share);
    for (const QuantizedValue& value : some.values) {
      EXPECT_TRUE(std::ranges::any_of(all.values, [&](const auto& v) { return v.value == value.value; }))
          << mask;
    }
    for (const QuantizedRead& read : some.reads) {
      EXPECT_TRUE(std::ranges::any_of(all.reads, [&](const auto& r) {
        return r.node == read.node && r.input == read.input;
      })) << mask;
    }
  }
}

TEST(AccuracyBudget, EveryMixtureRuns) {
  const Prepared p(tangle());
  for (unsigned mask = 0; mask < 64; mask += 5) {
    std::set<int32_t> kept;
    for (size_t i = 0; i < 6; ++i) {
      if ((mask >> i & 1U) != 0) kept.insert(p.placement.weighted[i].node);
    }
    const Graph mixed = with_qdq_but(p.form(), kept, nullptr);
    const auto runner = make_reference_runner(mixed, {});
    EXPECT_EQ(runner->run(p.samples[0].inputs)[0].shape(), (tensor::Shape{1, 5}));
  }
}

TEST(AccuracyBudget, EffectsAreThoseOfModelsWithOneLayerInInt8) {
  const Prepared p(chain());
  const auto layers =
      measure_sensitivity(p.graph, p.placement, p.scales, p.samples, make_reference_runner, {});
  const Evaluator evaluator(p.graph, p.samples, {}, make_reference_runner);
  ASSERT_EQ(layers.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    std::set<int32_t> kept;
    for (size_t k = 0; k < 3; ++k) {
      if (k != i) kept.insert(p.placement.weighted[k].node);
    }
    const double error = evaluator.accuracy_of(with_qdq_but(p.form(), kept, nullptr)).relative_error;
    EXPECT_NEAR(layers[i].output_error, error, 1e-3 * error);
    EXPECT_NEAR(layers[i].effect, error * error, 1e-2 * error * error);
  }
  // Nothing stands behind the last one.
  EXPECT_NEAR(layers[2].own_error, layers[2].output_error, 1e-9);
}

TEST(AccuracyBudget, LabelsMakeTheEffectThatOfTheirLoss) {
  const Prepared p(chain(true));
  SensitivityOptions options;
  options.labels = {0, 1, 2, 3};
  const auto by_labels =
      measure_sensitivity(p.graph, p.placement, p.scales, p.samples, make_reference_runner, options);
  const auto by_scores =
      measure_sensitivity(p.graph, p.placement, p.scales, p.samples, make_reference_runner, {});
  for (size_t i = 0; i < by_labels.size(); ++i) {
    EXPECT_GT(by_labels[i].effect, 0);
    EXPECT_NE(by_labels[i].effect, by_scores[i].effect);
    EXPECT_EQ(by_labels[i].output_error, by_scores[i].output_error);
  }
}

TEST(AccuracyBudget, AWideOneKeepsNothing) {
  const BudgetResult result = result_for(Prepared(chain()), 0.5);
  EXPECT_TRUE(result.choice.met);
  EXPECT_THAT(chosen(result).kept, IsEmpty());
  EXPECT_EQ(result.choice.tried.size(), 1u);
  EXPECT_TRUE(result.times.estimated);
  EXPECT_EQ(result.placement.weighted.size(), 3u);
}

TEST(AccuracyBudget, ANarrowerOneKeepsAsFewAsItNeeds) {
  const Prepared p(chain());
  const double all = chosen(result_for(p, 1)).accuracy.loss();
  const BudgetResult result = result_for(p, 0.9 * all);
  ASSERT_TRUE(result.choice.met);
  EXPECT_LE(chosen(result).accuracy.loss(), 0.9 * all);
  ASSERT_EQ(chosen(result).kept.size(), 1u);
  EXPECT_EQ(result.placement.weighted.size(), 2u);
  ASSERT_EQ(result.placement.kept.size(), 1u);
  EXPECT_THAT(result.placement.kept[0].reason, testing::HasSubstr("the accuracy budget keeps it"));
  // The written graph is the one that was judged.
  const Evaluator evaluator(p.graph, p.samples, {}, make_reference_runner);
  EXPECT_EQ(evaluator.accuracy_of(result.graph).loss(), chosen(result).accuracy.loss());
  EXPECT_TRUE(chosen(result).on_front);
}

TEST(AccuracyBudget, OneThatCannotBeMetLeavesTheBestModelWithALayerInInt8) {
  const BudgetResult result = result_for(Prepared(chain()), 0);
  EXPECT_FALSE(result.choice.met);
  EXPECT_LT(chosen(result).kept.size(), 3u);
  for (const MixedModel& model : result.choice.tried)
    EXPECT_GE(model.accuracy.loss(), chosen(result).accuracy.loss());
}

TEST(AccuracyBudget, AModelOfOneLayerIsNotEmptied) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim(1), Dim(3), Dim(4), Dim(4)});
  const BudgetResult result = result_for(Prepared(b.finish({b.conv(x, 3, 4)})), 0);
  EXPECT_FALSE(result.choice.met);
  EXPECT_THAT(chosen(result).kept, IsEmpty());
  EXPECT_EQ(result.placement.weighted.size(), 1u);
}

TEST(AccuracyBudget, LayersThatAreNoFasterInInt8GoBackFirst) {
  const Prepared p(chain());
  const std::string& slow = p.graph.nodes[static_cast<size_t>(p.placement.weighted[1].node)].name;
  const auto time_nodes = [&](const Graph& graph, std::span<const Tensor>) -> std::optional<NodeTimes> {
    const bool int8 = graph.nodes.size() > p.graph.nodes.size();
    NodeTimes times;
    for (const graph::Node& node : graph.nodes)
      times.nodes[node.name] = int8 ? (node.name == slow ? 30 : 5) : 20;
    times.whole = int8 ? 40 : 60;
    return times;
  };
  const double all = chosen(result_for(p, 1)).accuracy.loss();
  const BudgetResult result = result_for(p, 0.999 * all, time_nodes);
  EXPECT_FALSE(result.times.estimated);
  EXPECT_EQ(result.times.layers[1].won(), -10);
  const auto one =
      std::ranges::find_if(result.choice.tried, [](const auto& m) { return m.kept.size() == 1; });
  ASSERT_NE(one, result.choice.tried.end());
  EXPECT_THAT(one->kept, ElementsAre(1));
  // 60 less what the two others win.
  EXPECT_DOUBLE_EQ(one->time, 30);
  const auto none = std::ranges::find_if(result.choice.tried, [](const auto& m) { return m.kept.empty(); });
  EXPECT_DOUBLE_EQ(none->time, 40);
}

TEST(AccuracyBudget, StopsWhenAsked) {
  const Prepared p(chain());
  const system::StopFlag stop(true);
  SensitivityOptions options;
  options.stop = &stop;
  EXPECT_THROW(measure_sensitivity(p.graph, p.placement, p.scales, p.samples, make_reference_runner, options),
               system::Interrupted);
  EXPECT_THROW(Evaluator(p.graph, p.samples, {}, make_reference_runner, &stop), system::Interrupted);
}

TEST(AccuracyBudget, TakesFewerSamplesOfLargeModels) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim(1), Dim(1), Dim(4000), Dim(4000)});
  const Graph large = b.finish({b.node("Relu", {b.node("Relu", {b.node("Relu", {x})})})});
  EXPECT_EQ(samples_for_sensitivity(large, {{Tensor(tensor::DType::kFloat32, {1, 1, 4000, 4000})}, 1, {""}}),
            5);
  EXPECT_EQ(samples_for_sensitivity(chain(), {{Tensor(tensor::DType::kFloat32, {1, 3, 6, 6})}, 1, {""}}), 32);
}

}  // namespace
}  // namespace hone::quantize
