// On GPUs that are not here no fused node is left to the host, whatever follows its base operator: what no
// tactic takes whole runs as pieces. Programs are built, not run.
#include <gtest/gtest.h>

#include "device/cuda/absent_device.hpp"
#include "engine/program/program.hpp"
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
          EXPECT_FALSE(step.runs_on_host())
              << fmt::format("{} on sm_{} in {}: {} {}", form.name, gpu.properties().architecture(),
                             tensor::precision_name(precision), step.kind, fmt::join(step.refusals, "; "));
          dissolved += step.is_piece() ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(dissolved, 0);
}

/// What a gate is multiplied with has to be what it was made of.
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

/// MobileNetV3 ends with two of these.
TEST(Dissolving, ALayerAndItsHardSwishAreTwoSteps) {
  test::GraphBuilder b;
  const auto result =
      test::fused_node(b, "FusedGemm", {b.input("x", {8, 960}), b.random({960, 1280}), b.random({1280})}, 3,
                       {8, 1280}, {"hard_swish"});
  const auto graph = std::make_shared<const graph::Graph>(b.finish({result}));
  const AbsentGpu device(test_support::absent_gpus[0]);
  engine::WeightStore weights;
  const auto program =
      engine::build_program(graph, device, weights,
                            {.policy = engine::policy_of(Precision::kFp16), .layout = Layout::kChannelsLast});
  std::string kinds;
  for (const engine::ProgramStep& step : program->steps()) kinds += step.kind + " ";
  EXPECT_EQ(kinds, "Reorder Gemm FusedElementwise Copy ") << "the input is of float32";
}

}  // namespace
}  // namespace hone::device::cuda
