// Which tactic a step gets when the one that was chosen refuses here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

#include "engine/builder.hpp"
#include "engine/context.hpp"
#include "engine/description.hpp"
#include "engine/engine_file.hpp"
#include "engine/fake_device.hpp"
#include "engine/plans.hpp"
#include "engine/program/execution.hpp"
#include "graph/infer.hpp"
#include "support/equivalence.hpp"

namespace hone::engine {
namespace {

using test::GraphBuilder;

/// The tactic of a Relu for which `wanted` is chosen.
std::string tactic_for(const std::vector<const FakeTactic*>& tactics, const std::string& wanted) {
  GraphBuilder b;
  auto graph = std::make_shared<const graph::Graph>(b.finish({b.node("Relu", {b.input("x", {4})})}));
  const FakeDevice device(tactics, false);
  WeightStore weights;
  const auto program = build_program(graph, device, weights, {.plans = plans_by({wanted})});
  return program->steps().at(0).plan.tactic.text();
}

const FakeTactic& first() {
  static const FakeTactic kTactic("first", {});
  return kTactic;
}

TEST(ProgramBuilder, StepsOfTheHostAreTold) {
  GraphBuilder b;
  const auto x = b.input("x", {4});
  const auto graph = std::make_shared<const graph::Graph>(
      b.finish({b.node("Relu", {b.node("Det", {b.input("m", {3, 3})})}), b.node("Relu", {x})}));
  const FakeDevice device({&first()}, false);
  WeightStore weights;
  EXPECT_EQ(
      host_steps_note(*build_program(graph, device, weights, {})),
      "1 of 3 steps is computed by the host, there being no GPU kernel for it: Det; the other steps are CUDA "
      "graphs between these");
  GraphBuilder none;
  const auto relu =
      std::make_shared<const graph::Graph>(none.finish({none.node("Relu", {none.input("x", {4})})}));
  EXPECT_EQ(host_steps_note(*build_program(relu, device, weights, {})), "");
}

/// x plus the first rows of a table, as many as x has, and a mask of Range and comparisons: what is computed
/// from the shape alone takes no steps.
graph::Graph positions(const graph::Dim& length) {
  GraphBuilder b;
  const auto x = b.input("x", {length, 4});
  const auto rows = b.node("Shape", {x}, {{"end", int64_t{1}}});
  const auto ints = [&](std::vector<int64_t> values, Shape shape) {
    return b.constant(tensor::Tensor::of<int64_t>(values, std::move(shape)));
  };
  const auto table = b.random({16, 4});
  const auto slice = b.node("Slice", {table, ints({0}, {1}), rows, ints({0}, {1})});
  const auto count = b.node("Squeeze", {rows});
  const auto numbers = b.node("Range", {ints({0}, {}), count, ints({1}, {})});
  const auto column = b.node("Unsqueeze", {numbers, ints({1}, {1})});
  const auto mask = b.node("Where", {b.node("Greater", {column, ints({2}, {})}), b.scalar(0), b.scalar(5)});
  return b.finish({b.node("Mul", {b.node("Add", {x, slice}), mask}), rows});
}

TEST(ProgramBuilder, WhatShapesDecideTakesNoSteps) {
  const graph::Graph open = positions(graph::Dim::symbol("n"));
  const Device& device = device::cpu::cpu_device();
  for (const int64_t length : {1, 5}) {
    const auto bound =
        std::make_shared<const graph::Graph>(graph::with_input_shapes(open, {{"x", {length, 4}}}));
    WeightStore weights;
    const std::shared_ptr<const Program> program = build_program(bound, device, weights, {});
    std::vector<std::string> kinds;
    for (const ProgramStep& step : program->steps()) kinds.push_back(step.kind);
    EXPECT_THAT(kinds, ::testing::UnorderedElementsAre("Add", "Mul", "Copy"));
    const auto inputs = test::random_inputs(*bound, 3, 1);
    const auto expected = reference::run_graph(*bound, inputs);
    const auto actual = Execution(program, device).run(inputs);
    EXPECT_LE(test::relative_error(actual[0], expected[0]), 1e-6);
    EXPECT_EQ(actual[1].to_int64(), expected[1].to_int64());
  }
}

/// An engine keeps what such constants are computed from.
TEST(ProgramBuilder, EnginesOfOpenShapesMakeConstantsForEachShape) {
  const graph::Graph open = positions(graph::Dim::symbol("n"));
  BuildOptions options;
  options.model = "positions";
  options.threads = 1;
  options.optimization_level = 0;
  const auto path =
      std::filesystem::temp_directory_path() / fmt::format("hone-positions-{}.hone", ::getpid());
  save_engine(*build_engine(open, device::cpu::cpu_device(), options), device::cpu::cpu_device(), path);
  Context context(load_engine(path), device::cpu::cpu_device(), 1);
  std::filesystem::remove(path);
  for (const int64_t length : {3, 16, 1}) {
    const std::vector<tensor::Tensor> inputs = {test::random_tensor({length, 4}, 7)};
    EXPECT_LE(test::relative_error(context.run(inputs)[0], reference::run_graph(open, inputs)[0]), 1e-6);
  }
}

/// In two shapes, weights that are a table's last rows: packed forms of one length must not serve another.
TEST(ProgramBuilder, PacksConstantsForEachShape) {
  GraphBuilder b;
  const auto x = b.input("x", {graph::Dim::symbol("n"), 16});
  const auto ints = [&](std::vector<int64_t> values) {
    const auto count = static_cast<int64_t>(values.size());
    return b.constant(tensor::Tensor::of<int64_t>(values, {count}));
  };
  const auto rows = b.node("Shape", {x}, {{"end", int64_t{1}}});
  const auto first = b.node("Sub", {ints({16}), rows});
  const auto table = b.random({16, 16});
  const auto last = b.node("Slice", {table, first, ints({16}), ints({0})});
  const auto squares = b.node("Slice", {table, rows, b.node("Add", {rows, ints({8})}), ints({0})});
  const auto scores = b.node("MatMul", {x, b.node("Transpose", {last})});
  const auto narrow = b.node("MatMul", {x, b.node("Transpose", {squares})});
  const graph::Graph open = b.finish({scores, narrow});
  BuildOptions options;
  options.model = "positions";
  options.threads = 1;
  options.optimization_level = 0;
  Context context(build_engine(open, device::cpu::cpu_device(), options), device::cpu::cpu_device(), 1);
  for (const int64_t length : {8, 3, 5, 8}) {
    const std::vector<tensor::Tensor> inputs = {test::random_tensor({length, 16}, 7)};
    const auto expected = reference::run_graph(open, inputs);
    const auto actual = context.run(inputs);
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_LE(test::relative_error(actual[i], expected[i]), 1e-5) << i << " of " << length;
  }
}

TEST(ProgramBuilder, TakesTheVariantThatIsNamed) {
  const FakeTactic tiles("tiles", {.variants = {{"a", 0}, {"b", 0}}});
  EXPECT_EQ(tactic_for({&first(), &tiles}, "tiles:b"), "tiles:b");
  EXPECT_EQ(tactic_for({&first(), &tiles}, "tiles"), "tiles:a");
}

TEST(ProgramBuilder, AsksTheOtherVariantsOfATacticWhenTheNamedOneRefuses) {
  const FakeTactic tiles("tiles",
                         {.variants = {{"a", FakeTactic::kRefuses}, {"b", FakeTactic::kRefuses}, {"c", 0}}});
  EXPECT_EQ(tactic_for({&first(), &tiles}, "tiles:b"), "tiles:c");
  EXPECT_EQ(tactic_for({&first(), &tiles}, "tiles:unknown"), "tiles:c");
}

TEST(ProgramBuilder, AsksTheOtherTacticsWhenAllVariantsRefuse) {
  const FakeTactic tiles("tiles", {.variants = {{"a", FakeTactic::kRefuses}, {"b", FakeTactic::kRefuses}}});
  EXPECT_EQ(tactic_for({&first(), &tiles}, "tiles:b"), "first");
  const FakeTactic single("single", {.variants = {{"a", FakeTactic::kRefuses}}});
  EXPECT_EQ(tactic_for({&first(), &single}, "single:a"), "first");
}

TEST(ProgramBuilder, ATacticWithoutItsFormOfAConstantRefuses) {
  const FakeTactic packs("packs", {.misses_form = true});
  const FakeTactic tiles("tiles", {.misses_form = true, .variants = {{"a", 0}, {"b", 0}}});
  EXPECT_EQ(tactic_for({&packs, &tiles, &first()}, "tiles:b"), "first");
}

TEST(ProgramBuilder, AConstantWithoutAUsableFormIsNamed) {
  const FakeTactic packs("packs", {.misses_form = true});
  try {
    tactic_for({&packs}, "");
    FAIL() << "the step was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_STREQ(error.what(), "constant 'w' is stored in no form to make packed of; build the engine again");
  }
}

}  // namespace
}  // namespace hone::engine
