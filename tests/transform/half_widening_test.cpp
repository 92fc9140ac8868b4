// Models of float16 and bfloat16, which engines compute in a precision of their own.
#include "support/passes.hpp"
#include "transform/constants.hpp"

namespace hone::test {
namespace {

constexpr const char* kPass = "half_widening";
const Dims kImage = {Dim::symbol("N"), 8, 6, 6};

ValueId half_constant(GraphBuilder& b, const Shape& shape, DType dtype, uint32_t seed) {
  return b.constant(random_tensor(shape, seed, -0.5, 0.5).cast(dtype));
}

/// A convolution, an activation and a mean, all of one type.
Graph network(DType dtype) {
  GraphBuilder b;
  const ValueId x = b.input("x", kImage, dtype);
  const ValueId y =
      b.node("Conv", {x, half_constant(b, {16, 8, 3, 3}, dtype, 5), half_constant(b, {16}, dtype, 6)},
             {{"pads", std::vector<int64_t>(4, 1)}});
  return b.finish({b.node("GlobalAveragePool", {b.node("Relu", {y})})});
}

/// The error of what a graph computes against the same network in float32, whose weights and image are the
/// same numbers.
double error_of(const Graph& half, const Graph& whole) {
  const auto inputs = random_inputs(half, 3, 2);
  std::vector<Tensor> wide;
  for (const Tensor& input : inputs) wide.push_back(input.cast(DType::kFloat32));
  const Tensor expected = reference::run_graph(whole, wide)[0];
  const Tensor actual = reference::run_graph(half, inputs)[0];
  EXPECT_NE(actual.dtype(), DType::kFloat32) << "the caller sees the model's type";
  return relative_error(actual.cast(DType::kFloat32), expected);
}

/// The graph in float32 between two casts.
Graph without_casts(Graph graph) {
  EXPECT_EQ(graph.nodes.front().op, "Cast");
  EXPECT_EQ(graph.nodes.back().op, "Cast");
  graph.inputs = graph.nodes.front().outputs;
  graph.outputs = graph.nodes.back().inputs;
  std::vector<bool> dead(graph.nodes.size(), false);
  dead.front() = dead.back() = true;
  graph.remove_nodes(dead);
  return graph;
}

TEST(HalfWidening, ComputesInFloat32BetweenCasts) {
  for (const auto& [dtype, roundoff] :
       {std::pair(DType::kFloat16, 0x1p-11), std::pair(DType::kBFloat16, 0x1p-8)}) {
    const Graph original = network(dtype);
    const auto result = apply_passes(original, {kPass});
    EXPECT_EQ(structure(result.graph), "Cast Conv Relu GlobalAveragePool Cast");
    EXPECT_EQ(result.graph.value(result.graph.inputs[0]).name, "x");
    EXPECT_EQ(result.graph.value(result.graph.outputs[0]).type.dtype, dtype);
    EXPECT_EQ(result.graph.value(result.graph.outputs[0]).name, original.value(original.outputs[0]).name);
    // One rounding, of the result; the model's own arithmetic has one behind each node.
    EXPECT_LE(error_of(result.graph, without_casts(result.graph)), roundoff);
    EXPECT_EQ(apply_passes(result.graph, {kPass}).summary.changes, 0);
  }
}

TEST(HalfWidening, LeavesOtherModelsAndWhatOnlyMovesAlone) {
  EXPECT_EQ(apply_passes(network(DType::kFloat32), {kPass}).summary.changes, 0);
  GraphBuilder b;
  const ValueId x = b.input("x", {4, 6}, DType::kFloat16);
  const ValueId y = b.node("Transpose", {x}, {{"perm", std::vector<int64_t>{1, 0}}});
  EXPECT_EQ(structure(apply_passes(b.finish({y}), {kPass}).graph), "Transpose");
}

TEST(HalfWidening, TypesThatNodesChooseAreWidenedToo) {
  GraphBuilder b;
  const ValueId x = b.input("x", {3, 3}, DType::kFloat16);
  const ValueId eye = b.node("EyeLike", {x}, {{"dtype", static_cast<int64_t>(DType::kFloat16)}});
  const ValueId filled = b.node("ConstantOfShape", {b.ints({3, 3})},
                                {{"value", Tensor::scalar<float>(2).cast(DType::kFloat16).reshaped({1})}});
  const ValueId sum = b.node("Add", {b.node("Add", {x, eye}), filled});
  const ValueId back =
      b.node("Cast", {b.node("Cast", {sum}, {{"to", static_cast<int64_t>(DType::kFloat32)}})},
             {{"to", static_cast<int64_t>(DType::kFloat16)}});
  check_pass(b.finish({back, sum}), kPass);
}

/// A tenth of the sizes of an image, as old exporters write it: 30 * half(0.1) is 3 in float16 alone.
ValueId tenth(GraphBuilder& b, ValueId number) {
  const ValueId factor = b.constant(Tensor::scalar<float>(0.1F).cast(DType::kFloat16));
  return b.node("Mul", {number, factor});
}
AttributeList to(DType dtype) { return {{"to", static_cast<int64_t>(dtype)}}; }

TEST(HalfWidening, WholeNumbersAreThoseOfTheModel) {
  for (const char* whole : {"Cast", "Floor", "Round", "Ceil", "Equal"}) {
    GraphBuilder b;
    const ValueId x = b.input("x", {4}, DType::kFloat16);
    const ValueId y = tenth(b, b.node("Mul", {b.node("Round", {x}),
                                              b.constant(Tensor::scalar<float>(30).cast(DType::kFloat16))}));
    const std::string op = whole;
    const ValueId z = op == "Cast" ? b.node(op, {y}, to(DType::kInt64))
                      : op == "Equal"
                          ? b.node(op, {y, b.constant(Tensor::scalar<float>(3).cast(DType::kFloat16))})
                          : b.node(op, {y});
    check_pass(b.finish({z}), kPass);
  }
}

TEST(HalfWidening, SizesAreThoseOfTheModel) {
  for (const Dim& size : {Dim(30), Dim::symbol("H")}) {
    GraphBuilder b;
    const ValueId x = b.input("x", {1, 1, size, size});
    const ValueId sizes = b.node("Cast", {b.node("Shape", {x})}, to(DType::kFloat16));
    const ValueId scaled = b.node("Cast", {b.node("Floor", {tenth(b, sizes)})}, to(DType::kFloat32));
    const ValueId bounds = b.node("Cast", {scaled}, to(DType::kInt64));
    const Graph graph = b.finish({bounds});
    const std::vector<Tensor> image = {random_tensor({1, 1, 30, 30}, 3)};
    Graph optimized = graph;
    transform::optimize(optimized);
    EXPECT_EQ(reference::run_graph(optimized, image)[0].to_double(),
              reference::run_graph(graph, image)[0].to_double());
    EXPECT_EQ(reference::run_graph(graph, image)[0].to_double()[2], 3);
  }
}

/// The limit on what passes may add to a model's constants goes by their bytes.
TEST(HalfWidening, AddsNothingToTheBytesOfConstantsAsTheyAreCounted) {
  const Graph graph = network(DType::kFloat16);
  EXPECT_EQ(transform::constant_bytes(apply_passes(graph, {kPass}).graph), transform::constant_bytes(graph));
}

TEST(HalfWidening, OutputsThatAreInputsOrConstantsKeepTheirType) {
  GraphBuilder b;
  const ValueId x = b.input("x", {4}, DType::kFloat16);
  const ValueId c = half_constant(b, {4}, DType::kFloat16, 9);
  check_pass(b.finish({b.node("Add", {x, c}), b.node("Identity", {x}), b.node("Identity", {c})}), kPass);
}

}  // namespace
}  // namespace hone::test
