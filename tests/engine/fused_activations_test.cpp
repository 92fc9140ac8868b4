// Activations fused into convolutions and products compute what the reference computes, whatever their
// parameters: oneDNN keeps the parameters of one activation per algorithm, and the others must stay outside.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "device/cpu/cpu_device.hpp"
#include "engine/builder.hpp"
#include "engine/context.hpp"
#include "engine/engine_file.hpp"
#include "support/equivalence.hpp"

namespace hone::engine {
namespace {

using graph::ValueId;
using test::GraphBuilder;

const Device& device() { return device::cpu::cpu_device(); }

Shape known_shape(const graph::TensorType& type) {
  Shape shape;
  for (const graph::Dim& dim : *type.dims) shape.push_back(dim.value());
  return shape;
}

std::shared_ptr<Engine> build(const graph::Graph& graph, Precision precision = Precision::kFp32) {
  BuildOptions options;
  options.model = "test";
  options.threads = 2;
  options.precision = precision;
  options.optimization_level = 0;
  options.default_batch = 1;
  for (const ValueId id : graph.inputs) {
    const Shape shape = known_shape(graph.value(id).type);
    options.shapes[graph.value(id).name] = {shape, shape, shape};
  }
  return build_engine(graph, device(), options);
}

/// Names of the tactics of fused steps; the engines here have one.
std::string fused_tactics(Context& context, const std::vector<tensor::Tensor>& inputs) {
  std::vector<Shape> shapes;
  for (const tensor::Tensor& input : inputs) shapes.push_back(input.shape());
  std::string names;
  for (const ProgramStep& step : context.program(shapes).steps()) {
    if (step.kind.starts_with("Fused")) names += step.plan.tactic.text();
  }
  return names;
}

/// bfloat16 keeps 8 bits: half a unit in the last place is 2^-9 a rounding, a handful of them in a row, and
/// clips leave less of the value than of its error.
double tolerance(const graph::Graph& graph, Precision precision) {
  return precision == Precision::kBf16 ? 16 * 0x1p-9 : test::rounding_tolerance(graph);
}

/// Also that a fast kernel runs it all: one step, whose tactic starts with `tactic`.
void expect_right(const graph::Graph& graph, Precision precision, const std::string& tactic) {
  Context context(build(graph, precision), device(), 2);
  const auto inputs = test::random_inputs(graph, 3, 1);
  const auto expected = reference::run_graph(graph, inputs);
  EXPECT_TRUE(fused_tactics(context, inputs).starts_with(tactic)) << fused_tactics(context, inputs);
  EXPECT_LE(test::relative_error(context.run(inputs)[0], expected[0]), tolerance(graph, precision));
}

/// An activation by a short name, as nodes.
ValueId activation(GraphBuilder& b, const std::string& name, ValueId x) {
  if (name == "relu") return b.node("Relu", {x});
  if (name == "leaky") return b.node("LeakyRelu", {x}, {{"alpha", 0.3f}});
  if (name == "rising") return b.node("LeakyRelu", {x}, {{"alpha", -0.7f}});
  if (name == "prelu") return b.node("PRelu", {x, b.filled({1}, 0.6f)});
  if (name == "relu6") return b.node("Clip", {x, b.scalar(0), b.scalar(6)});
  if (name == "narrow") return b.node("Clip", {x, b.scalar(-0.5f), b.scalar(0.25f)});
  if (name == "at_least") return b.node("Clip", {x, b.scalar(-0.25f)});
  if (name == "at_most") return b.node("Clip", {x, graph::kNoValue, b.scalar(0.5f)});
  if (name == "gate") return b.node("HardSigmoid", {x}, {{"alpha", 0.2f}, {"beta", 0.5f}});
  if (name == "steep_gate") return b.node("HardSigmoid", {x}, {{"alpha", 0.9f}, {"beta", -0.1f}});
  if (name == "elu") return b.node("Elu", {x}, {{"alpha", 1.0f}});
  if (name == "deep_elu") return b.node("Elu", {x}, {{"alpha", 3.0f}});
  if (name == "swish") return b.node("Mul", {x, b.node("Sigmoid", {x})});
  if (name == "soft_swish")
    return b.node("Mul", {x, b.node("Sigmoid", {b.node("Mul", {x, b.scalar(0.2f)})})});
  if (name == "add_constant") return b.node("Add", {x, b.scalar(-0.4f)});
  if (name == "add_input") {
    const graph::Dims dims = *b.type(x).dims;
    return b.node("Add", {x, b.input("residual", dims)});
  }
  return b.node(name, {x});
}

/// The operator into which activations are fused.
struct Base {
  const char* name;
  ValueId (*make)(GraphBuilder& b);
  const char* tactic;
};

void PrintTo(const Base& base, std::ostream* out) { *out << base.name; }

const Base kBases[] = {
    {"conv",
     [](GraphBuilder& b) {
       return b.conv(b.input("x", {1, 16, 6, 6}), 16, 16);
     },
     "onednn_"},
    {"depthwise",
     [](GraphBuilder& b) {
       return b.conv(b.input("x", {1, 16, 6, 6}), 16, 16, 3, 16);
     },
     "onednn_"},
    {"pointwise",
     [](GraphBuilder& b) {
       return b.conv(b.input("x", {1, 24, 6, 6}), 24, 15, 1);
     },
     "onednn_"},
    {"gemm",
     [](GraphBuilder& b) {
       return b.node("Gemm", {b.input("x", {4, 24}), b.random({24, 16}), b.random({16})});
     },
     "onednn_inner_product"},
    {"matmul",
     [](GraphBuilder& b) {
       return b.node("MatMul", {b.input("x", {4, 24}), b.input("y", {24, 16})});
     },
     "onednn_matmul"},
    {"stacked_rows",
     [](GraphBuilder& b) {
       return b.node("MatMul", {b.input("x", {2, 3, 24}), b.random({24, 16})});
     },
     "onednn_inner_product"},
    {"stacked_matmul",
     [](GraphBuilder& b) {
       return b.node("MatMul", {b.input("x", {2, 3, 4, 24}), b.input("y", {2, 3, 24, 8})});
     },
     "onednn_matmul"},
};

using Names = std::vector<std::string>;

const Names kChains[] = {
    {"leaky", "relu"},
    {"relu", "rising"},
    {"leaky", "rising"},
    {"prelu", "rising"},
    {"leaky", "add_constant", "relu"},
    {"leaky", "add_input", "relu"},
    {"relu", "add_input", "leaky", "Tanh"},
    {"relu6", "narrow"},
    {"narrow", "relu6"},
    {"at_most", "at_least"},
    {"narrow", "add_input", "relu6"},
    {"relu6", "gate"},
    {"gate", "narrow"},
    {"gate", "steep_gate"},
    {"elu", "deep_elu"},
    {"deep_elu", "add_constant", "elu"},
    {"swish", "soft_swish"},
    {"soft_swish", "swish"},
    {"leaky", "relu6", "relu", "narrow", "leaky"},
};

graph::Graph fused_graph(const Base& base, const Names& chain) {
  GraphBuilder b;
  ValueId x = base.make(b);
  for (const std::string& name : chain) x = activation(b, name, x);
  return b.finish({x});
}

class FusedActivations : public testing::TestWithParam<Base> {};

TEST_P(FusedActivations, OfOneAlgorithmKeepTheirOwnParameters) {
  for (const Names& chain : kChains) {
    const graph::Graph graph = fused_graph(GetParam(), chain);
    for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
      SCOPED_TRACE(fmt::format("{}, {}", fmt::join(chain, " "), tensor::precision_name(precision)));
      expect_right(graph, precision, GetParam().tactic);
    }
  }
}

/// oneDNN has no such functions: they run behind the primitive, not in the reference.
TEST_P(FusedActivations, ThatOnednnHasNotFollowThePrimitive) {
  for (const Names& chain : {Names{"Softplus"}, Names{"relu", "Mish", "add_input"}}) {
    SCOPED_TRACE(fmt::format("{}", fmt::join(chain, " ")));
    expect_right(fused_graph(GetParam(), chain), Precision::kFp32, GetParam().tactic);
  }
}

INSTANTIATE_TEST_SUITE_P(Bases, FusedActivations, testing::ValuesIn(kBases),
                         [](const auto& info) { return std::string(info.param.name); });

/// ONNX: every element becomes max when min lies above it.
TEST(FusedClip, WithCrossedBoundsGivesTheUpperOne) {
  for (const bool image : {true, false}) {
    GraphBuilder b;
    const ValueId x = b.input("x", {1, 4, 6, 6});
    const ValueId y = image ? b.conv(x, 4, 4) : b.node("Sigmoid", {x});
    const graph::Graph graph = b.finish({b.node("Tanh", {b.node("Clip", {y, b.scalar(1), b.scalar(-1)})})});
    SCOPED_TRACE(image ? "convolution" : "elementwise");
    expect_right(graph, Precision::kFp32, "");
  }
}

/// Also of a chain, where infinity comes out as it went in.
TEST(FusedClip, WithoutAnUpperBoundKeepsInfinity) {
  for (const bool image : {true, false}) {
    GraphBuilder b;
    const ValueId x = b.input("x", {1, 2, 2, 2});
    const ValueId y = image ? b.conv(x, 2, 2) : b.node("Neg", {b.node("Neg", {x})});
    const graph::Graph graph = b.finish({b.node("Clip", {b.node("Add", {y, x}), b.scalar(0.5f)})});
    std::vector<float> values(8, 1);
    values[3] = std::numeric_limits<float>::infinity();
    const std::vector<tensor::Tensor> inputs = {tensor::Tensor::of<float>(values, {1, 2, 2, 2})};
    Context context(build(graph), device(), 2);
    const auto result = context.run(inputs)[0].to_double();
    const auto expected = reference::run_graph(graph, inputs)[0].to_double();
    for (size_t i = 0; i < result.size(); ++i)
      EXPECT_EQ(std::isinf(result[i]), std::isinf(expected[i])) << image << ", element " << i;
    EXPECT_TRUE(image || std::isinf(result[3]));
  }
}

/// The file holds bounds in JSON, which knows numbers only.
TEST(FusedClip, WithABoundThatIsNotFiniteComesBackFromItsFile) {
  using Limits = std::numeric_limits<float>;
  const auto path = std::filesystem::temp_directory_path() / fmt::format("hone-fused-clip-{}.hone", getpid());
  for (const float bound : {-Limits::infinity(), Limits::quiet_NaN()}) {
    SCOPED_TRACE(bound);
    GraphBuilder b;
    const ValueId y = b.conv(b.input("x", {1, 4, 6, 6}), 4, 4);
    const graph::Graph graph = b.finish({b.node("Clip", {y, b.scalar(bound), b.scalar(0.5f)})});
    save_engine(*build(graph), device(), path);
    const auto loaded = load_engine(path);
    std::filesystem::remove(path);
    const auto inputs = test::random_inputs(graph, 3, 1);
    Context context(loaded, device(), 2);
    EXPECT_LE(test::relative_error(context.run(inputs)[0], reference::run_graph(graph, inputs)[0]),
              test::rounding_tolerance(graph));
  }
}

}  // namespace
}  // namespace hone::engine
