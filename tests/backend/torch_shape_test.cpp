// Operators of the torch backends that move, pick and make elements, against the reference kernels.
#include "backend/registry.hpp"
#include "backend/torch_support.hpp"

namespace hone::test {
namespace {

const Shape kShape{2, 4, 6, 3};

TEST(TorchOperators, Layouts) {
  expect_covered({.op = "Reshape", .shape = kShape, .more = with_ints({0, -1, 9})});
  expect_covered({.op = "Flatten", .shape = kShape});
  expect_covered({.op = "Flatten", .shape = kShape, .attributes = {{"axis", int64_t{-1}}}});
  expect_covered({.op = "Transpose", .shape = kShape});
  expect_covered({.op = "Transpose", .shape = kShape, .attributes = {{"perm", Integers{0, 2, 3, 1}}}});
  expect_covered({.op = "Squeeze", .shape = {1, 4, 1, 3}, .more = with_ints({0, -2})});
  expect_covered({.op = "Squeeze", .shape = {1, 4, 1, 3}});
  expect_covered({.op = "Unsqueeze", .shape = {4, 3}, .more = with_ints({-1, 0})});
  expect_covered({.op = "Expand", .shape = {4, 1}, .more = with_ints({2, 1, 3})});
  expect_covered({.op = "Tile", .shape = {2, 3}, .more = with_ints({2, 3})});
  expect_covered({.op = "Concat",
                  .shape = kShape,
                  .attributes = {{"axis", int64_t{1}}},
                  .more = with_random({{2, 1, 6, 3}, {2, 2, 6, 3}})});
  expect_covered({.op = "Split",
                  .shape = kShape,
                  .attributes = {{"axis", int64_t{2}}},
                  .more = with_ints({1, 2, 3}),
                  .outputs = 3});
  expect_covered({.op = "Split", .shape = {7, 2}, .attributes = {{"num_outputs", int64_t{3}}}, .outputs = 3});
  for (const char* mode : {"DCR", "CRD"}) {
    expect_covered({.op = "DepthToSpace",
                    .shape = {1, 8, 2, 3},
                    .attributes = {{"blocksize", int64_t{2}}, {"mode", std::string(mode)}}});
  }
  expect_covered({.op = "SpaceToDepth", .shape = {1, 2, 4, 6}, .attributes = {{"blocksize", int64_t{2}}}});
  expect_covered({.op = "Dropout", .shape = kShape, .outputs = 2});
}

TEST(TorchOperators, Slices) {
  const auto slice = [](Integers starts, Integers ends, Integers axes, Integers steps) {
    return [=](GraphBuilder& b) {
      return std::vector<ValueId>{b.ints(starts), b.ints(ends), b.ints(axes), b.ints(steps)};
    };
  };
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max();
  expect_covered({.op = "Slice", .shape = kShape, .more = slice({1, 0}, {-1, 2}, {2, 1}, {2, 1})});
  expect_covered({.op = "Slice", .shape = kShape, .more = slice({-1}, {-kFar}, {2}, {-1})});
  expect_covered({.op = "Slice", .shape = kShape, .more = slice({kFar, 3}, {1, kFar}, {2, 1}, {-2, 1})});
  expect_covered({.op = "Slice", .shape = kShape, .more = [](GraphBuilder& b) {
                    return std::vector<ValueId>{b.ints({0, 1}), b.ints({1, kFar})};
                  }});
}

TEST(TorchOperators, Pads) {
  for (const char* mode : {"constant", "reflect", "edge", "wrap"}) {
    expect_covered({.op = "Pad",
                    .shape = kShape,
                    .attributes = {{"mode", std::string(mode)}},
                    .more = with_ints({0, 1, 2, 1, 0, 0, 3, 2})});
  }
  expect_covered({.op = "Pad", .shape = kShape, .more = [](GraphBuilder& b) {
                    return std::vector<ValueId>{b.ints({-1, 2, 1, -1}), b.scalar(1.5f), b.ints({2, -1})};
                  }});
}

TEST(TorchOperators, Gathers) {
  const auto indices = [](Integers values, Shape shape) {
    return
        [=](GraphBuilder& b) { return std::vector<ValueId>{b.constant(Tensor::of<int64_t>(values, shape))}; };
  };
  expect_covered({.op = "Gather",
                  .shape = kShape,
                  .attributes = {{"axis", int64_t{2}}},
                  .more = indices({0, -1, 3, 3, 5, 2}, {2, 3})});
  expect_covered(
      {.op = "Gather", .shape = kShape, .attributes = {{"axis", int64_t{-3}}}, .more = indices({-2}, {})});
  expect_covered({.op = "GatherElements",
                  .shape = {3, 3},
                  .attributes = {{"axis", int64_t{1}}},
                  .more = indices({0, -1, 1, 2, 2, 0}, {3, 2})});
  expect_covered({.op = "GatherND", .shape = {2, 3, 4}, .more = indices({0, 1, 1, -1}, {2, 2})});
  expect_covered({.op = "GatherND",
                  .shape = {2, 3, 4},
                  .attributes = {{"batch_dims", int64_t{1}}},
                  .more = indices({2, -1}, {2, 1})});
}

/// Shapes computed in the graph become numbers at load, as they are in a PyTorch module.
TEST(TorchOperators, ComputedShapesAreFolded) {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim::symbol("batch"), 4, 6});
  const ValueId batch = b.node("Gather", {b.node("Shape", {x}), b.constant(Tensor::scalar<int64_t>(0))});
  const ValueId shape =
      b.node("Concat", {b.node("Unsqueeze", {batch, b.ints({0})}), b.ints({24})}, {{"axis", int64_t{0}}});
  const Graph graph = b.finish({b.node("Relu", {b.node("Reshape", {x, shape})})});
  for (const int64_t batch_size : {1, 3}) expect_covered(graph, {random_tensor({batch_size, 4, 6}, 3)});
  backend::LoadOptions options;
  options.input_shapes["x"] = {2, 4, 6};
  const auto executable = backend::make_backend("torch")->load(model_of(graph), options);
  ASSERT_EQ(executable->steps().size(), 2U);
  EXPECT_EQ(executable->steps()[0].kind, "Reshape");
  // Another shape than the one it was loaded for.
  const std::vector<Tensor> inputs{random_tensor({5, 4, 6}, 3)};
  EXPECT_EQ(relative_error(executable->run(inputs)[0], reference::run_graph(graph, inputs)[0]), 0);
}

/// A shape that depends on values runs in eager mode; a trace would freeze it.
TEST(TorchOperators, ShapesFromDataRunEagerly) {
  GraphBuilder b;
  const ValueId x = b.input("x", {4, 6});
  const ValueId shape = b.input("shape", {2}, DType::kInt64);
  const Graph graph = b.finish({b.node("Reshape", {x, shape})});
  const std::vector<Tensor> inputs{random_tensor({4, 6}, 3), Tensor::of<int64_t>({3, 8}, {2})};
  expect_covered(graph, inputs, /*traced=*/false);
  EXPECT_THAT(run_on("torchscript", graph, inputs).second,
              testing::AllOf(testing::HasSubstr("backend torchscript cannot run node 'Reshape1' (Reshape)"),
                             testing::HasSubstr("input 1")));
}

}  // namespace
}  // namespace hone::test
