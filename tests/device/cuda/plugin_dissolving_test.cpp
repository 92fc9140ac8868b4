// On GPUs that are not here no fused node is left to the host, whatever follows its base operator: what no
// tactic takes whole runs as pieces. Programs are built, not run.
#include <gtest/gtest.h>

#include <set>

#include "cases/case_passes.hpp"
#include "device/cuda/absent_device.hpp"
#include "engine/program/program.hpp"
#include "graph/infer.hpp"
#include "graph/quantized_chain.hpp"
#include "graph/region.hpp"
#include "graph/text/parser.hpp"
#include "support/fused_forms.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using tensor::Precision;
using test_support::AbsentGpu;

TEST(Dissolving, NothingFusedRunsOnTheHostOfAnyGpu) {
  int dissolved = 0;
  for (Gpu& gpu : test_support::absent_gpus) {
    const AbsentGpu device(gpu);
    for (const Precision precision : {Precision::kFp16, Precision::kFp32}) {
      for (const test::FusedForm& form : test::fused_forms()) {
        engine::WeightStore weights;
        const auto program =
            engine::build_program(std::make_shared<const graph::Graph>(form.graph), device, weights,
                                  {.policy = engine::policy_of(precision), .layout = Layout::kChannelsLast});
        for (const engine::ProgramStep& step : program->steps()) {
          EXPECT_FALSE(step.runs_on_host()) << fmt::format(
              "{} on sm_{} in {}: {} {}", form.name, gpu.properties().architecture(),
              tensor::precision_name(precision), step.kind, fmt::join(engine::texts_of(step.refusals), "; "));
          dissolved += step.is_piece() ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(dissolved, 0);
}

std::string host_steps(const graph::Graph& graph, const AbsentGpu& device, Precision precision) {
  engine::WeightStore weights;
  const auto program =
      engine::build_program(std::make_shared<const graph::Graph>(graph), device, weights,
                            {.policy = engine::policy_of(precision), .layout = Layout::kChannelsLast});
  std::string steps;
  for (const engine::ProgramStep& step : program->steps()) {
    if (step.runs_on_host())
      steps += fmt::format("{}: {}\n", step.kind, fmt::join(engine::texts_of(step.refusals), "; "));
  }
  return steps;
}

/// Open sizes become what the case says, or 4.
graph::Graph sized(const test::Case& test, const graph::Graph& graph) {
  std::map<std::string, tensor::Shape> shapes = test.shapes();
  const std::map<std::string, int64_t> symbols = test.symbols();
  for (const graph::ValueId id : graph.inputs) {
    const graph::Value& input = graph.value(id);
    if (shapes.contains(input.name) || !input.type.ranked()) continue;
    for (const graph::Dim& dim : *input.type.dims) {
      const auto known = symbols.find(dim.symbol());
      shapes[input.name].push_back(dim.known() ? dim.value() : known != symbols.end() ? known->second : 4);
    }
  }
  return graph::with_input_shapes(graph, shapes);
}

/// Whatever passes make of the graphs of their cases, for every kind of region that has a tactic.
TEST(Dissolving, FusingSendsNothingToTheHostOfAnyGpu) {
  const std::filesystem::path folder = std::filesystem::path(HONE_SOURCE_DIR) / "tests/cases";
  std::set<std::string> missing;
  for (const engine::Tactic& tactic : test_support::own_tactics(test_support::absent_gpus[0])) {
    for (const std::string& op : tactic.operators) {
      if (op.starts_with("Region:")) missing.insert(op.substr(7));
    }
  }
  ASSERT_FALSE(missing.empty());
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".case") continue;
    for (const test::Case& test : test::read_cases(entry.path(), entry.path().parent_path().filename())) {
      if (test.passes().empty()) continue;
      const graph::Graph before = graph::parse_graph(test.need("before").padded());
      graph::Graph after = before;
      test::apply_passes(test, after);
      std::set<std::string> kinds;
      for (const graph::Node& node : after.nodes) {
        if (graph::is_region(node)) kinds.insert(graph::kind_of(node));
      }
      // quantized_fusion leaves none of these behind, whether it takes them or not.
      if (kinds.empty() || kinds.contains(std::string(graph::kQuantizedWeights))) continue;
      for (const std::string& kind : kinds) missing.erase(kind);
      for (Gpu& gpu : test_support::absent_gpus) {
        const AbsentGpu device(gpu);
        for (const Precision precision : {Precision::kFp16, Precision::kFp32}) {
          if (!host_steps(sized(test, before), device, precision).empty()) continue;
          EXPECT_EQ(host_steps(sized(test, after), device, precision), "")
              << fmt::format("{} of {} on sm_{} in {}", test.name, test.folder,
                             gpu.properties().architecture(), tensor::precision_name(precision));
        }
      }
    }
  }
  EXPECT_TRUE(missing.empty()) << "no case makes regions of kind "
                               << fmt::format("{}", fmt::join(missing, ", "));
}

/// The second factor of a gate has to be its input.
TEST(Dissolving, GatesOfAnotherImageAreNoSqueezeAndExcitation) {
  const AbsentGpu device(test_support::absent_gpus[0]);
  for (const bool own : {false, true}) {
    test::GraphBuilder b;
    const auto x = b.input("x", {2, 16, 6, 6});
    const auto z = b.input("z", {2, 16, 6, 6});
    const auto squeezed = b.conv(b.node("GlobalAveragePool", {x}), 16, 8, 1);
    const auto product = b.node("Mul", {own ? x : z, b.conv(squeezed, 8, 16, 1)});
    const auto graph = std::make_shared<const graph::Graph>(
        test::as_region(b.finish({product}), "squeeze_excite", {"pool", "squeeze", "gate", "product"}));
    engine::WeightStore weights;
    const auto program = engine::build_program(
        graph, device, weights,
        {.policy = engine::policy_of(Precision::kFp16), .layout = Layout::kChannelsLast});
    int pieces = 0;
    for (const engine::ProgramStep& step : program->steps()) pieces += step.is_piece() ? 1 : 0;
    EXPECT_EQ(pieces, own ? 0 : 4);
  }
}

std::string kinds_of_a_layer_with_hard_swish(int64_t rows) {
  test::GraphBuilder b;
  const auto result =
      test::fused_node(b, "FusedGemm", {b.input("x", {rows, 960}), b.random({960, 1280}), b.random({1280})},
                       3, {rows, 1280}, {"hard_swish"});
  const auto graph = std::make_shared<const graph::Graph>(b.finish({result}));
  const AbsentGpu device(test_support::absent_gpus[0]);
  engine::WeightStore weights;
  const auto program =
      engine::build_program(graph, device, weights,
                            {.policy = engine::policy_of(Precision::kFp16), .layout = Layout::kChannelsLast});
  std::string kinds;
  for (const engine::ProgramStep& step : program->steps()) kinds += step.kind + " ";
  return kinds;
}

/// MobileNetV3 ends with two of these. Products of few rows take whatever follows; the input is of float32.
TEST(Dissolving, ALayerOfManyRowsAndItsHardSwishAreTwoSteps) {
  EXPECT_EQ(kinds_of_a_layer_with_hard_swish(8), "Reorder FusedGemm ");
  EXPECT_EQ(kinds_of_a_layer_with_hard_swish(64), "Reorder Gemm FusedElementwise Copy ");
}

}  // namespace
}  // namespace hone::device::cuda
