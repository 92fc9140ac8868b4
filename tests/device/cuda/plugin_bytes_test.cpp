// Quantized networks on a GPU that is not here: what is multiplied as integers, and what lies between such
// steps. Programs are built, not run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/cuda/absent_device.hpp"
#include "engine/program/program.hpp"
#include "support/passes.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using graph::ValueId;
using tensor::Precision;
using tensor::Tensor;
using test_support::AbsentGpu;
using ::testing::ElementsAre;

graph::Graph optimized(graph::Graph graph) {
  transform::PassOptions options;
  options.requested = {"quantized_lowering", "quantized_movement",   "quantized_weights",
                       "quantized_fusion",   "row_lifting",          "pool_fusion",
                       "global_pool_fusion", "quantized_sum_fusion", "normalization_fusion",
                       "attention_fusion",   "projection_packing"};
  transform::optimize(graph, options);
  return graph;
}

/// Kind and tactic of each step, on the GPU of that number.
std::vector<std::string> steps_of(const graph::Graph& graph, Precision precision = Precision::kFp16,
                                  size_t gpu = 0) {
  const AbsentGpu device(test_support::absent_gpus[gpu]);
  engine::WeightStore weights;
  const auto program = engine::build_program(
      std::make_shared<const graph::Graph>(graph), device, weights,
      {.policy = engine::policy_of(precision), .layout = Layout::kChannelsLast, .list_candidates = true});
  std::vector<std::string> steps;
  for (const engine::ProgramStep& step : program->steps())
    steps.push_back(fmt::format("{} {}", step.kind, step.plan.tactic.text()));
  return steps;
}

/// Nodes of a quantized network.
class QuantizedBuilder : public test::GraphBuilder {
 public:
  ValueId quantize(ValueId x, float scale, int zero_point = 0, bool is_unsigned = true) {
    const ValueId s = scalar(scale);
    const ValueId z = is_unsigned ? constant(Tensor::scalar<uint8_t>(static_cast<uint8_t>(zero_point)))
                                  : constant(Tensor::scalar<int8_t>(static_cast<int8_t>(zero_point)));
    return node("DequantizeLinear", {node("QuantizeLinear", {x, s, z}), s, z});
  }
  /// Weights of int8, one scale for each filter.
  ValueId weights(const tensor::Shape& shape, int64_t axis) {
    std::vector<int8_t> bytes;
    for (int64_t i = 0; i < tensor::element_count(shape); ++i)
      bytes.push_back(static_cast<int8_t>(i * 37 % 255 - 127));
    const ValueId scales = random({shape[static_cast<size_t>(axis)]}, 0.001, 0.01);
    return node("DequantizeLinear", {constant(Tensor::of<int8_t>(bytes, shape)), scales}, {{"axis", axis}});
  }
  ValueId quantized_conv(ValueId x, int64_t in, int64_t out, int64_t kernel, int64_t group = 1) {
    const int64_t pad = kernel / 2;
    return node("Conv", {x, weights({out, in / group, kernel, kernel}, 0), random({out})},
                {{"group", group}, {"pads", std::vector<int64_t>{pad, pad, pad, pad}}});
  }
};

/// The kinds of steps between the first quantization and the last step, except those that only rearrange
/// images.
std::vector<std::string> kinds_of(const graph::Graph& graph, Precision precision = Precision::kFp16,
                                  size_t gpu = 0) {
  std::vector<std::string> kinds;
  for (const std::string& step : steps_of(graph, precision, gpu)) {
    const std::string kind = step.substr(0, step.find_first_of(":"));
    if (!kind.starts_with("Reorder") && !kind.starts_with("Copy")) kinds.push_back(kind);
  }
  return kinds;
}

TEST(Bytes, BlocksOfAResNetStayIntegersBetweenSteps) {
  QuantizedBuilder b;
  const auto x = b.quantize(b.input("x", {2, 64, 14, 14}), 0.02F);
  auto y = b.quantize(b.node("Relu", {b.quantized_conv(x, 64, 32, 1)}), 0.03F);
  y = b.quantize(b.node("Relu", {b.quantized_conv(y, 32, 32, 3)}), 0.04F);
  y = b.node("Relu", {b.node("Add", {b.quantized_conv(y, 32, 64, 1), x})});
  y = b.quantize(b.node("GlobalAveragePool", {b.quantize(y, 0.05F)}), 0.01F);
  const auto logits = b.node("Gemm", {b.node("Flatten", {y}), b.weights({10, 64}, 0), b.random({10})},
                             {{"transB", int64_t{1}}});
  EXPECT_THAT(kinds_of(optimized(b.finish({logits}))),
              ElementsAre("QuantizeLinear byte_quantization", "quantized_product warpgroup_bytes",
                          "quantized_product warpgroup_bytes", "quantized_product warpgroup_bytes",
                          "quantized_pool byte_average", "quantized_product warpgroup_bytes"));
}

/// A projected shortcut is multiplied by the kernel that adds it; without that kernel both run as they were.
TEST(Bytes, AProjectedShortcutIsAddedByOneKernel) {
  QuantizedBuilder b;
  const auto x = b.quantize(b.input("x", {2, 64, 14, 14}), 0.02F, 5);
  const auto y = b.quantize(b.node("Relu", {b.quantized_conv(x, 64, 32, 1)}), 0.03F);
  const auto shortcut = b.quantize(b.quantized_conv(x, 64, 128, 1), 0.04F, -3, false);
  const auto sum = b.node("Add", {b.quantized_conv(y, 32, 128, 3), shortcut});
  const auto graph = optimized(b.finish({b.quantize(b.node("Relu", {sum}), 0.05F)}));
  for (const Precision precision : {Precision::kFp16, Precision::kFp32}) {
    EXPECT_THAT(kinds_of(graph, precision),
                ElementsAre("QuantizeLinear byte_quantization", "quantized_product warpgroup_bytes",
                            "quantized_sum warpgroup_byte_sum", "DequantizeLinear pointwise"));
    for (const std::string& step : steps_of(graph, precision, 1)) {
      EXPECT_THAT(step, ::testing::Not(::testing::HasSubstr("reference")));
      EXPECT_THAT(step, ::testing::Not(::testing::HasSubstr("warpgroup")));
    }
  }
}

TEST(Bytes, PoolsAndMapsOfBytes) {
  QuantizedBuilder b;
  const auto x = b.quantize(b.input("x", {1, 32, 12, 12}), 0.02F);
  const auto pooled =
      b.node("MaxPool", {x},
             {{"kernel_shape", std::vector<int64_t>{2, 2}}, {"strides", std::vector<int64_t>{2, 2}}});
  const auto other = b.quantize(b.input("other", {1, 32, 6, 6}), 0.07F, 3, false);
  const auto sum = b.quantize(b.node("Relu", {b.node("Add", {pooled, other})}), 0.03F);
  const auto graph = optimized(b.finish({b.quantized_conv(sum, 32, 16, 1)}));
  EXPECT_THAT(kinds_of(graph), ::testing::UnorderedElementsAre("QuantizeLinear byte_quantization",
                                                               "QuantizeLinear byte_quantization",
                                                               "MaxPool byte_pool", "quantized_map pointwise",
                                                               "quantized_product warpgroup_bytes"));
}

TEST(Bytes, AreResizedAsBytes) {
  QuantizedBuilder b;
  const auto x = b.quantize(b.input("x", {1, 32, 6, 6}), 0.02F);
  const auto scales = b.constant(Tensor::of<float>({1, 1, 2, 2}, {4}));
  const auto larger = b.node("Resize", {x, graph::kNoValue, scales},
                             {{"mode", std::string("nearest")},
                              {"coordinate_transformation_mode", std::string("asymmetric")},
                              {"nearest_mode", std::string("floor")}});
  EXPECT_THAT(
      kinds_of(optimized(b.finish({b.quantized_conv(larger, 32, 16, 1)}))),
      ElementsAre("QuantizeLinear byte_quantization", "Resize resize", "quantized_product warpgroup_bytes"));
}

TEST(Bytes, WhatNoKernelMultipliesRunsAsPiecesOnTheGpu) {
  for (const Precision precision : {Precision::kFp16, Precision::kFp32}) {
    // Groups; channels that are no multiple of 16; a zero point beyond the border; uneven weights.
    for (int which = 0; which < 3; ++which) {
      QuantizedBuilder b;
      const int64_t channels = which == 1 ? 20 : 32;
      const auto x = b.quantize(b.input("x", {1, channels, 9, 9}), 0.02F, which == 2 ? 100 : 0);
      const auto y = b.quantized_conv(x, channels, 32, 3, which == 0 ? channels : 1);
      const auto graph = optimized(b.finish({b.quantize(y, 0.1F)}));
      for (const size_t gpu : {0, 1}) {
        for (const std::string& step : steps_of(graph, precision, gpu)) {
          EXPECT_THAT(step, ::testing::Not(::testing::HasSubstr("reference"))) << which << " on " << gpu;
          EXPECT_THAT(step, ::testing::Not(::testing::HasSubstr("warpgroup_bytes")))
              << which << " on " << gpu;
        }
      }
    }
  }
}

TEST(Bytes, ZeroPointsWithoutBordersAreTakenOffTheSums) {
  QuantizedBuilder b;
  const auto x = b.quantize(b.input("x", {3, 48}), 0.02F, 77);
  const auto y = b.node("MatMul", {x, b.weights({48, 32}, 1)});
  EXPECT_THAT(kinds_of(optimized(b.finish({b.quantize(y, 0.1F, 12)}))),
              ElementsAre("QuantizeLinear byte_quantization", "quantized_product warpgroup_bytes",
                          "DequantizeLinear pointwise"));
}

/// Results in floating point are float16 where the engine keeps that, and what is added to them, too.
TEST(Bytes, ResultsAndResidualsInHalf) {
  QuantizedBuilder b;
  const auto x = b.input("x", {5, 64});
  const auto product = b.node("MatMul", {b.quantize(x, 0.02F, 0, false), b.weights({64, 64}, 1)});
  const auto sum = b.node("Add", {product, b.node("Sigmoid", {x})});
  const auto graph = optimized(b.finish({b.node("Softmax", {sum})}));
  EXPECT_THAT(kinds_of(graph), ElementsAre("QuantizeLinear byte_quantization", "Sigmoid pointwise",
                                           "quantized_product warpgroup_bytes", "Softmax softmax"));
}

}  // namespace
}  // namespace hone::device::cuda
