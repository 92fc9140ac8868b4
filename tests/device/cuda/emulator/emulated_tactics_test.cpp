// Tactics of fused operators as an engine uses them: what is packed, how operands lie, which input is which.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "device/cuda/emulator/emulated_device.hpp"
#include "device/cuda/emulator/emulator.hpp"
#include "device/cuda/one_node.hpp"
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm.hpp"
#include "device/cuda/plugin/kernels/layers/reorder.hpp"
#include "device/cuda/regions/stem/plugin/kernels/stem.hpp"
#include "engine/builder.hpp"
#include "engine/context.hpp"
#include "support/equivalence.hpp"
#include "support/regions.hpp"

namespace hone::device::cuda {

// Kernels that the tactics here have no use for.
cudaError_t convert(const void* /*from*/, FloatType /*from_type*/, void* /*to*/, FloatType /*to_type*/,
                    int64_t /*count*/, const LaunchOptions& /*options*/) {
  return cudaErrorNotSupported;
}
cudaError_t reorder(const void* /*from*/, FloatType /*from_type*/, ImageOrder /*from_order*/, void* /*to*/,
                    FloatType /*to_type*/, ImageOrder /*to_order*/, const ImageSize& /*size*/,
                    const LaunchOptions& /*options*/) {
  return cudaErrorNotSupported;
}
cudaError_t transpose_matrices(const void* /*from*/, void* /*to*/, size_t /*bytes*/, int64_t /*batch*/,
                               int64_t /*rows*/, int64_t /*columns*/, const LaunchOptions& /*options*/) {
  return cudaErrorNotSupported;
}
cudaError_t reorder_padded(const void* /*from*/, FloatType /*from_type*/, void* /*to*/, FloatType /*to_type*/,
                           const ImageSize& /*size*/, int64_t /*to_channels*/,
                           const LaunchOptions& /*options*/) {
  return cudaErrorNotSupported;
}
cudaError_t launch_pad_image(const StemLayout& /*layout*/, const float* /*from*/, void* /*to*/,
                             const LaunchOptions& /*options*/) {
  return cudaErrorNotSupported;
}

namespace {

/// The arguments of the last launch of the implicit GEMM, of which there is only this.
ConvArgs launched;

}  // namespace

cudaError_t launch_conv(const ConvProblem& /*problem*/, const ConvConfig& /*config*/, const ConvArgs& args,
                        const LaunchOptions& /*options*/) {
  launched = args;
  return cudaSuccess;
}

namespace {

using Ints = std::vector<int64_t>;
using test::Dim;
using test::GraphBuilder;
using test::ValueId;

/// Half has 11 bits; weights, images and what lies between two steps are rounded to it.
constexpr double kTolerance = 4.0 / 2048;

/// Builds an engine of half elements, runs it, and compares with the graph as it is. Gives the
/// tactics of its steps, behind "of a piece: " those of a dissolved node's; copies and plain steps left out.
std::string run(const graph::Graph& graph, std::vector<std::string> passes, int64_t batch,
                const char* without = "", const char* gemm = "") {
  const emulator::EmulatedDevice device(std::move(passes), without, gemm);
  engine::BuildOptions options;
  options.precision = tensor::Precision::kFp16;
  options.optimization_level = 0;
  const auto engine = engine::build_engine(graph, device, options);
  engine::Context context(engine, device, 1);
  const auto inputs = test::random_inputs(graph, 3, batch);
  const auto expected = reference::run_graph(graph, inputs);
  const auto actual = context.run(inputs);
  EXPECT_EQ(emulator::take_faults(), "");
  EXPECT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_LE(test::relative_error(actual[i], expected[i]), kTolerance) << "output " << i;
  std::vector<engine::Shape> shapes;
  for (const auto& input : inputs) shapes.push_back(input.shape());
  std::string tactics;
  for (const engine::ProgramStep& step : context.program(shapes).steps()) {
    const std::string& name = step.plan.tactic.name;
    if (name == "reference" || name == "reorder") continue;
    tactics += (tactics.empty() ? "" : " ") + std::string(step.is_piece() ? "of a piece: " : "") + name;
  }
  return tactics;
}

ValueId conv(GraphBuilder& b, ValueId x, const Ints& filters, int64_t stride, bool bias) {
  std::vector<ValueId> inputs = {x, b.random(filters, -0.3, 0.3)};
  if (bias) inputs.push_back(b.random({filters[0]}));
  return b.node("Conv", inputs, {{"strides", Ints{stride, stride}}, {"pads", Ints(4, filters[2] / 2)}});
}

/// A block whose shortcut, of another image, is projected.
graph::Graph projected(bool main_bias, bool shortcut_bias) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim::symbol("N"), 24, 7, 7});
  const ValueId y = b.input("y", {Dim::symbol("N"), 40, 14, 14});
  const ValueId main = conv(b, x, {72, 24, 3, 3}, 1, main_bias);
  const ValueId shortcut = conv(b, y, {72, 40, 1, 1}, 2, shortcut_bias);
  return b.finish({b.node("Relu", {b.node("Add", {main, shortcut})})});
}

TEST(EmulatedTactics, SumOfConvolutionsTakesItsOperands) {
  for (const bool main_bias : {false, true}) {
    for (const bool shortcut_bias : {false, true})
      EXPECT_EQ(run(projected(main_bias, shortcut_bias), {"convolution_sum_fusion"}, 3), "warpgroup_sum");
  }
}

TEST(EmulatedTactics, SumWithMoreActivationsThanAKernelTakesIsNone) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim::symbol("N"), 8, 3, 3});
  std::vector<std::string> post_ops(8, "relu");
  post_ops[0] = "add";
  const std::vector<float> numbers(8);
  const ValueId shortcut = b.node("Conv", {x, b.random({8, 8, 1, 1})});
  const ValueId y = b.node("FusedConv", {x, b.random({8, 8, 1, 1}), test::kNoValue, shortcut},
                           {{"post_ops", post_ops}, {"post_alphas", numbers}, {"post_betas", numbers}});
  EXPECT_EQ(run(test::as_region(b.finish({y}), "conv_sum", {"shortcut", "sum"}), {}, 2), "");
}

TEST(EmulatedTactics, ConvolutionAndGlobalPoolTakeTheirOperands) {
  for (const bool adds : {false, true}) {
    GraphBuilder b;
    const ValueId x = b.input("x", {Dim::symbol("N"), 16, 7, 7});
    const ValueId y = b.input("y", {Dim::symbol("N"), 40, 7, 7});
    ValueId result = conv(b, x, {40, 16, 3, 3}, 1, true);
    if (adds) result = b.node("Add", {result, y});
    const ValueId mean = b.node("GlobalAveragePool", {b.node("Relu", {result})});
    EXPECT_EQ(run(b.finish(adds ? std::vector{mean} : std::vector{mean, b.node("Relu", {y})}),
                  {"global_pool_fusion"}, 2),
              "warpgroup_pooled");
  }
}

TEST(EmulatedTactics, StemsAndWhatFollowsTakeTheirOperands) {
  for (const bool bias : {false, true}) {
    GraphBuilder b;
    const ValueId x = b.input("x", {Dim::symbol("N"), 3, 20, 24});
    const ValueId y = b.node("Relu", {conv(b, x, {64, 3, 7, 7}, 2, bias)});
    const ValueId pooled =
        b.node("MaxPool", {y}, {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints(4, 1)}});
    const ValueId next = b.node("Relu", {conv(b, pooled, {64, 64, 1, 1}, 1, bias)});
    EXPECT_EQ(run(b.finish({next, pooled}), {"pool_fusion", "stem_fusion"}, 2), "stem_gemm");
  }
}

/// A stem, its pool and a convolution of 1 x 1; the pass for it takes 64 channels and bounds alone.
graph::Graph stem_with_next(int64_t channels, const std::string& activation) {
  GraphBuilder b;
  const auto convolve = [&](ValueId x, const Ints& filters, const std::string& op, int64_t stride) {
    const std::vector<std::string> post_ops = {op};
    const std::vector<float> none = {0};
    return b.node("FusedConv", {x, b.random(filters, -0.3, 0.3), b.random({filters[0]})},
                  {{"strides", Ints{stride, stride}},
                   {"pads", Ints(4, filters[2] / 2)},
                   {"post_ops", post_ops},
                   {"post_alphas", none},
                   {"post_betas", none}});
  };
  const ValueId image = convolve(b.input("x", {Dim::symbol("N"), 3, 12, 12}), {64, 3, 7, 7}, "relu", 2);
  const ValueId pooled = b.node(
      "MaxPool", {image}, {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints(4, 1)}});
  graph::Graph graph = b.finish({pooled, convolve(pooled, {channels, 64, 1, 1}, activation, 1)});
  test::fold_region(graph, "conv_max_pool", {"conv", "pool"}, {pooled});
  return test::as_region(graph, "stem", {"pooled", "next"});
}

TEST(EmulatedTactics, StemsLeaveOtherConvolutionsBehindTheirPoolAlone) {
  EXPECT_EQ(run(stem_with_next(64, "relu"), {}, 2), "stem_gemm");
  EXPECT_EQ(run(stem_with_next(64, "sigmoid"), {}, 2), "of a piece: stem_gemm");
  EXPECT_EQ(run(stem_with_next(32, "relu"), {}, 2), "of a piece: stem_gemm");
}

TEST(EmulatedTactics, SqueezeAndExcitationTakesItsOperands) {
  for (const bool bias : {false, true}) {
    for (const bool gate_first : {false, true}) {
      GraphBuilder b;
      const ValueId x = b.input("x", {Dim::symbol("N"), 32, 5, 7});
      const ValueId hidden =
          b.node("Relu", {conv(b, b.node("GlobalAveragePool", {x}), {8, 32, 1, 1}, 1, bias)});
      const ValueId gate = b.node("Sigmoid", {conv(b, hidden, {32, 8, 1, 1}, 1, !bias)});
      const graph::Graph graph =
          b.finish({b.node("Mul", gate_first ? std::vector{gate, x} : std::vector{x, gate})});
      EXPECT_EQ(run(graph, {"squeeze_excite_fusion"}, 2), "squeeze_excite");
    }
  }
}

/// A file may hold a region of any kind with any body.
TEST(EmulatedTactics, BodiesOfAnotherFormAreLeftToTheirNodes) {
  for (const char* kind :
       {"conv_max_pool", "conv_global_pool", "stem", "bottleneck", "conv_sum", "squeeze_excite", "Conv"}) {
    GraphBuilder b;
    const ValueId x = b.input("x", {Dim::symbol("N"), 16, 7, 7});
    const ValueId sum = b.node("Add", {conv(b, x, {16, 16, 3, 3}, 1, true), x});
    const graph::Graph graph = b.finish({b.node("GlobalAveragePool", {sum})});
    EXPECT_EQ(run(test::as_region(graph, kind, {"conv", "sum", "pool"}), {}, 2), "") << kind;
  }
}

/// A graph that looks like the pattern, but computes something else.
TEST(EmulatedTactics, OtherNumbersThanAPatternsAreLeftToTheirNodes) {
  const auto bottleneck = [](int64_t pad, bool adds, const char* window_op) {
    GraphBuilder b;
    const ValueId x = b.input("x", {Dim::symbol("N"), 64, 4, 56});
    const auto convolve = [&](ValueId image, const Ints& filters, std::vector<std::string> ops, int64_t pads,
                              ValueId addend = test::kNoValue) {
      const std::vector<float> zeros(ops.size());
      std::vector<ValueId> inputs = {image, b.random(filters, -0.3, 0.3), b.random({filters[0]})};
      if (addend != test::kNoValue) inputs.push_back(addend);
      return b.node(
          "FusedConv", inputs,
          {{"pads", Ints(4, pads)}, {"post_ops", ops}, {"post_alphas", zeros}, {"post_betas", zeros}});
    };
    const ValueId window = convolve(x, {64, 64, 3, 3}, {window_op}, pad);
    const int64_t height = 2 + 2 * pad;
    const ValueId shortcut = b.input("shortcut", {Dim::symbol("N"), 256, height, 54 + 2 * pad});
    const ValueId wide = convolve(window, {256, 64, 1, 1}, {adds ? "add" : "mul", "relu"}, 0, shortcut);
    const ValueId next = convolve(wide, {64, 256, 1, 1}, {"relu"}, 0);
    return test::as_region(b.finish({wide, next}), "bottleneck", {"window", "expand", "next"});
  };
  EXPECT_EQ(run(bottleneck(1, true, "relu"), {}, 1), "bottleneck");
  EXPECT_EQ(run(bottleneck(0, true, "relu"), {}, 1), "") << "another padding";
  EXPECT_EQ(run(bottleneck(1, false, "relu"), {}, 1), "") << "a product in place of the sum";
  EXPECT_EQ(run(bottleneck(1, true, "sigmoid"), {}, 1), "") << "another activation";
}

TEST(EmulatedTactics, FiltersThatStayTakeTheirOperands) {
  for (const bool bias : {false, true}) {
    GraphBuilder b;
    const ValueId x = b.input("x", {Dim::symbol("N"), 256, 5, 7});
    const ValueId y = b.node("Relu", {conv(b, x, {128, 256, 3, 3}, 1, bias)});
    const ValueId z = conv(b, y, {128, 128, 3, 3}, 1, bias);
    const graph::Graph graph = b.finish({b.node("Relu", {b.node("Add", {z, y})})});
    EXPECT_EQ(run(graph, {}, 2), "warpgroup_stationary warpgroup_stationary");
  }
}

/// Convolutions of 1 x 1, each with one of what commonly follows.
graph::Graph pointwise(bool bias) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim::symbol("N"), 32, 5, 7});
  const ValueId y = b.input("y", {Dim::symbol("N"), 144, 5, 7});
  const ValueId sum = b.node("Add", {conv(b, x, {144, 32, 1, 1}, 1, bias), y});
  const ValueId z = conv(b, x, {48, 32, 1, 1}, 1, bias);
  return b.finish({b.node("Relu", {sum}), b.node("Mul", {z, b.node("Sigmoid", {z})})});
}

TEST(EmulatedTactics, GemmsTakeTheirOperands) {
  for (const std::string gemm : {"warp_gemm", "warpgroup_gemm", "resident_gemm"}) {
    for (const bool bias : {false, true})
      EXPECT_EQ(run(pointwise(bias), {}, 3, "", gemm.c_str()), gemm + " " + gemm);
  }
}

TEST(EmulatedTactics, SumsOfPartsAreInTheScratchAreaAndSoInThePlan) {
  GraphBuilder b;
  const test_support::OneNode conv =
      test_support::one_node(b, {1, 256, 7, 7}, "Conv", {b.random({64, 256, 1, 1})});
  Gpu gpu(emulator::properties());
  TacticList tactics;
  add_gemm_tactics(tactics, gpu);
  const auto& implicit = *std::find_if(tactics.begin(), tactics.end(),
                                       [](const auto& tactic) { return tactic.name == "implicit_gemm"; });
  conv.asked(
      [&](engine::StepRequest request) {
        request.policy = engine::policy_of(tensor::Precision::kFp16);
        engine::WeightStore weights;
        const auto offered = [&](const char* variant) {
          return implicit.offer_variant(request, weights, variant);
        };
        const engine::Offer whole = offered("32x64x64_s3");  // holds the filter
        EXPECT_EQ(whole.scratch_bytes, 0);
        const engine::Offer split = offered("32x64x64_s3_w4");
        // 49 pixels make 2 tiles of 32, 64 filters 1: 4 parts of each, and counters beside.
        EXPECT_EQ(split.scratch_bytes, 2 * 4 * 32 * 64 * 4);
        EXPECT_EQ(whole.counter_bytes, 0);
        EXPECT_EQ(split.counter_bytes, 2 * 4);
        std::vector<std::byte> scratch(static_cast<size_t>(split.scratch_bytes));
        int64_t counters = 0;
        const Stream stream;
        const CudaQueue queue(stream, emulator::properties());
        const void* const inputs[] = {scratch.data(), nullptr};
        void* const outputs[] = {scratch.data()};
        split.kernel->run({.inputs = inputs,
                           .outputs = outputs,
                           .scratch = scratch.data(),
                           .counters = &counters,
                           .queue = &queue});
        EXPECT_EQ(launched.workspace, scratch.data());
        EXPECT_EQ(launched.counters, &counters);
      },
      engine::Layout::kChannelsLast);
}

TEST(EmulatedTactics, WarpsLeaveOtherEpiloguesAlone) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim::symbol("N"), 32, 5, 7});
  const graph::Graph graph = b.finish({b.node("Sigmoid", {conv(b, x, {48, 32, 1, 1}, 1, true)})});
  EXPECT_EQ(run(graph, {}, 2, "", "resident_gemm"), "resident_gemm");
  EXPECT_EQ(run(graph, {}, 2, "", "warp_gemm"), "of a piece: warp_gemm");
}

/// A product of the rows of a stack with a constant matrix, its bias, and what `behind` adds.
template <class Behind>
graph::Graph product(const Behind& behind) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim::symbol("N"), 19, 64});
  const ValueId matrix = b.random({64, 72}, -0.3, 0.3);
  const ValueId sum = b.node("Add", {b.node("MatMul", {x, matrix}), b.random({72})});
  // An output of the graph is a float: another step follows.
  return b.finish({b.node("Transpose", {behind(b, sum)}, {{"perm", Ints{0, 2, 1}}})});
}

TEST(EmulatedTactics, MatrixProductsTakeWhatFollowsThem) {
  const auto gelu = [](GraphBuilder& b, ValueId sum) { return b.node("Gelu", {sum}); };
  const auto tanh = [](GraphBuilder& b, ValueId sum) { return b.node("Tanh", {sum}); };
  const auto scaled_residual = [](GraphBuilder& b, ValueId sum) {
    const ValueId scaled = b.node("Mul", {sum, b.random({72})});
    return b.node("Add", {scaled, b.input("y", {Dim::symbol("N"), 19, 72})});
  };
  const auto per_stack = [](GraphBuilder& b, ValueId sum) {
    return b.node("Mul", {sum, b.node("Relu", {b.input("z", {Dim::symbol("N"), 1, 72})})});
  };
  for (const int64_t stacks : {1, 3}) {
    EXPECT_EQ(run(product(gelu), {}, stacks, "", "warpgroup_matrix"), "warpgroup_matrix");
    EXPECT_EQ(run(product(scaled_residual), {}, stacks, "", "warpgroup_matrix"), "warpgroup_matrix");
    EXPECT_EQ(run(product(per_stack), {}, stacks, "", "warpgroup_matrix"), "warpgroup_matrix");
    EXPECT_EQ(run(product(gelu), {}, stacks, "", "warp_matrix"), "warp_matrix");
    EXPECT_EQ(run(product(tanh), {}, stacks, "", "warp_matrix"), "of a piece: warp_matrix");
  }
}

TEST(EmulatedTactics, FewRowsTakeWhatFollowsThem) {
  for (const bool residual : {false, true}) {
    GraphBuilder b;
    const ValueId x = b.input("x", {Dim::symbol("N"), 64});
    const ValueId y = b.node("Gemm", {x, b.random({64, 72}, -0.3, 0.3), b.random({72})});
    const ValueId z = b.input("z", {Dim::symbol("N"), 72});
    const graph::Graph graph = b.finish(
        {residual ? b.node("Gelu", {b.node("Add", {y, z})}) : b.node("Mul", {b.node("Relu", {y}), z})});
    EXPECT_EQ(run(graph, {}, 2, "", "matrix_vector"), "matrix_vector");
  }
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim::symbol("N"), 2, 64});
  const ValueId scale = b.input("scale", {Dim::symbol("N"), 1, 72});
  const ValueId y = b.node("MatMul", {x, b.random({64, 72}, -0.3, 0.3)});
  EXPECT_EQ(run(b.finish({b.node("Mul", {y, b.node("Relu", {scale})})}), {}, 3, "", "matrix_vector"),
            "matrix_vector");
}

/// x / sqrt(mean(x^2) + epsilon) * scale as exporters write it.
ValueId rms_norm(GraphBuilder& b, ValueId x, int64_t columns) {
  const ValueId mean =
      b.node("ReduceMean", {b.node("Mul", {x, x}), b.constant(tensor::Tensor::of<int64_t>({-1}, {1}))});
  const ValueId sum = b.node("Add", {mean, b.constant(tensor::Tensor::scalar(1e-5F))});
  const ValueId factor = b.node("Reciprocal", {b.node("Sqrt", {sum})});
  return b.node("Mul", {b.node("Mul", {x, factor}), b.random({columns}, 0.5, 1.5)});
}

/// An output of the graph is a float: another step follows.
ValueId leaving(GraphBuilder& b, ValueId x) { return b.node("Transpose", {x}, {{"perm", Ints{0, 2, 1}}}); }

/// A norm and three products of it side by side, and another one before a gated layer.
graph::Graph layers_of_a_token(int64_t rows, bool by_root) {
  GraphBuilder b;
  const auto normalized = [&](ValueId of) {
    if (by_root) return rms_norm(b, of, 64);
    return b.node("LayerNormalization", {of, b.random({64}, 0.5, 1.5), b.random({64})});
  };
  const auto project = [&](ValueId of, int64_t columns, bool bias) {
    const ValueId product = b.node("MatMul", {of, b.random({64, columns}, -0.3, 0.3)});
    return bias ? b.node("Add", {product, b.random({columns})}) : product;
  };
  const ValueId first = normalized(b.input("x", {1, rows, 64}));
  const ValueId q = project(first, 64, true);
  const ValueId k = project(first, 16, true);
  const ValueId v = project(first, 16, false);
  const ValueId second = normalized(b.input("y", {1, rows, 64}));
  const ValueId gate = project(second, 40, false);
  const ValueId up = project(second, 40, true);
  const ValueId gated = b.node("Mul", {b.node("Mul", {gate, b.node("Sigmoid", {gate})}), up});
  return b.finish({leaving(b, q), leaving(b, k), leaving(b, v), leaving(b, gated)});
}

TEST(EmulatedTactics, StepsOfATokenTakeTheirOperands) {
  const std::vector<std::string> passes = {"rms_norm_fusion", "row_product_fusion"};
  for (const bool by_root : {false, true}) {
    for (const int64_t rows : {1, 3})
      EXPECT_EQ(run(layers_of_a_token(rows, by_root), passes, 1, "", "row_products"),
                "row_products row_products");
  }
}

TEST(EmulatedTactics, StepsOfATokenWithoutANormTakeTheirOperands) {
  for (const bool gated : {false, true}) {
    GraphBuilder b;
    const ValueId x = b.input("x", {1, 1, 64});
    const ValueId first = b.node("MatMul", {x, b.random({64, 40}, -0.3, 0.3)});
    const ValueId second = b.node("MatMul", {x, b.random({64, 40}, -0.3, 0.3)});
    const graph::Graph graph =
        b.finish(gated ? std::vector{leaving(b, b.node("Mul", {b.node("Relu", {first}), second}))}
                       : std::vector{first, second});
    EXPECT_EQ(run(graph, {"row_product_fusion"}, 1, "", "row_products"), "row_products");
  }
}

TEST(EmulatedTactics, BottlenecksTakeTheirOperands) {
  for (const bool bias : {false, true}) {
    GraphBuilder b;
    const ValueId x = b.input("x", {Dim::symbol("N"), 64, 3, 56});
    const auto wide = [&](ValueId image, const auto& shortcut) {
      const ValueId middle = b.node("Relu", {conv(b, image, {64, 64, 3, 3}, 1, bias)});
      const ValueId expanded = conv(b, middle, {256, 64, 1, 1}, 1, bias);
      return b.node("Relu", {b.node("Add", {expanded, shortcut()})});
    };
    const ValueId first = wide(x, [&] { return conv(b, x, {256, 64, 1, 1}, 1, bias); });
    const ValueId second = wide(conv(b, first, {64, 256, 1, 1}, 1, bias), [&] { return first; });
    const graph::Graph graph =
        b.finish({b.node("Relu", {conv(b, second, {128, 256, 1, 1}, 1, bias)}), second});
    EXPECT_EQ(run(graph, {"bottleneck_fusion"}, 2), "bottleneck bottleneck");
    EXPECT_EQ(run(graph, {"bottleneck_fusion"}, 2, "bottleneck"),
              "pipelined_bottleneck pipelined_bottleneck");
  }
}

TEST(EmulatedTactics, BottlenecksInClustersTakeTheirOperands) {
  for (const bool bias : {false, true}) {
    GraphBuilder b;
    const ValueId x = b.input("x", {Dim::symbol("N"), 128, 2, 28});
    const ValueId y = b.input("y", {Dim::symbol("N"), 512, 2, 28});
    const ValueId middle = b.node("Relu", {conv(b, x, {128, 128, 3, 3}, 1, bias)});
    const ValueId wide = b.node("Relu", {b.node("Add", {conv(b, middle, {512, 128, 1, 1}, 1, bias), y})});
    const ValueId next = b.node("Relu", {conv(b, wide, {128, 512, 1, 1}, 1, bias)});
    EXPECT_EQ(run(b.finish({next, wide}), {"cluster_bottleneck_fusion"}, 1), "bottleneck");
    EXPECT_EQ(run(b.finish({wide}), {"cluster_bottleneck_fusion"}, 1), "bottleneck");
  }
}

}  // namespace
}  // namespace hone::device::cuda
