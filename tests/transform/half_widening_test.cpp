// Models of float16 and bfloat16, which engines compute in a precision of their own.
#include "support/passes.hpp"

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

TEST(HalfWidening, OutputsThatAreInputsOrConstantsKeepTheirType) {
  GraphBuilder b;
  const ValueId x = b.input("x", {4}, DType::kFloat16);
  const ValueId c = half_constant(b, {4}, DType::kFloat16, 9);
  check_pass(b.finish({b.node("Add", {x, c}), b.node("Identity", {x}), b.node("Identity", {c})}), kPass);
}

}  // namespace
}  // namespace hone::test
