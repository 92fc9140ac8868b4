// Which tactic a step gets when the one that was chosen refuses here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/description.hpp"
#include "engine/fake_device.hpp"
#include "engine/plans.hpp"
#include "support/graph_builder.hpp"

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
      "1 of 3 steps is computed by the host, there being no GPU kernel for it: Det; so the steps are not one "
      "CUDA graph");
  GraphBuilder none;
  const auto relu =
      std::make_shared<const graph::Graph>(none.finish({none.node("Relu", {none.input("x", {4})})}));
  EXPECT_EQ(host_steps_note(*build_program(relu, device, weights, {})), "");
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
