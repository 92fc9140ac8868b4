// Rows of a device's table: requirements come before everything else, and a node gets the rows of its
// operator.
#include "engine/kernel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "engine/requirements.hpp"

namespace hone::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A step that reads an input and makes an output of these shapes.
class Step {
 public:
  Step(const Shape& input, const Shape& output, DType dtype = DType::kFloat32)
      : request_{.graph = graph_, .node = node_, .inputs = {{dtype, input}}, .outputs = {{dtype, output}}} {}
  const StepRequest& request() const { return request_; }

 private:
  graph::Graph graph_;
  graph::Node node_;
  StepRequest request_;
};

/// How often the functions of a row were called.
struct Calls {
  int make = 0;
  int list_variants = 0;
  int make_variant = 0;
  int prepare = 0;
};

Tactic counting(Calls& calls, std::vector<Requirement> requirements) {
  return {.name = "counting",
          .requirements = std::move(requirements),
          .make =
              [&](const StepRequest&, WeightStore&) {
                ++calls.make;
                return Offer();
              },
          .list_variants =
              [&](const StepRequest&) {
                ++calls.list_variants;
                return std::vector<std::string>{"a", "b"};
              },
          .make_variant =
              [&](const StepRequest&, WeightStore&, std::string_view) {
                ++calls.make_variant;
                return Offer();
              },
          .prepare =
              [&](const StepRequest&, const std::vector<std::string>&) {
                ++calls.prepare;
                return std::make_shared<const int>(0);
              }};
}

TEST(Tactic, RequirementsAreAskedInTurnBeforeAnythingElse) {
  Calls calls;
  const Tactic tactic = counting(calls, {only_float32, nonempty_input, nonempty_output});
  const Step empty({0}, {0});
  WeightStore weights;
  EXPECT_EQ(tactic.offer(empty.request(), weights).refusal.text(), "the input is empty");
  EXPECT_EQ(tactic.offer_variant(empty.request(), weights, "a").refusal.text(), "the input is empty");
  EXPECT_THAT(tactic.variants(empty.request()), IsEmpty());
  EXPECT_EQ(tactic.expect(empty.request(), {"a"}), nullptr);
  EXPECT_EQ(calls.make + calls.list_variants + calls.make_variant + calls.prepare, 0);
}

TEST(Tactic, StepsThatMeetThemReachTheFunctions) {
  Calls calls;
  const Tactic tactic = counting(calls, {only_float32, nonempty_input});
  const Step step({2}, {2});
  WeightStore weights;
  EXPECT_FALSE(tactic.offer(step.request(), weights).refusal);
  EXPECT_FALSE(tactic.offer_variant(step.request(), weights, "a").refusal);
  EXPECT_THAT(tactic.variants(step.request()), ElementsAre("a", "b"));
  EXPECT_NE(tactic.expect(step.request(), {"a"}), nullptr);
  EXPECT_THAT((std::array{calls.make, calls.list_variants, calls.make_variant, calls.prepare}),
              ElementsAre(1, 1, 1, 1));
}

TEST(Tactic, OneWithoutVariantsMakesItsOnlyOfferWhateverIsAskedFor) {
  const Tactic tactic{.name = "plain", .make = [](const StepRequest&, WeightStore&) {
                        return Offer::refuse("it never runs");
                      }};
  const Step step({2}, {2});
  WeightStore weights;
  EXPECT_THAT(tactic.variants(step.request()), IsEmpty());
  EXPECT_EQ(tactic.expect(step.request(), {}), nullptr);
  EXPECT_EQ(tactic.offer_variant(step.request(), weights, "a").refusal.text(), "it never runs");
}

TEST(Tactic, ANodeGetsTheRowsOfItsOperatorInTheirOrder) {
  const TacticList list = {{.name = "first", .operators = {"Relu", "Tanh"}},
                           {.name = "second", .operators = {"Conv"}},
                           {.name = "third", .operators = {"Tanh"}}};
  const auto names = [&](const std::string& op) {
    graph::Node node;
    node.op = op;
    std::vector<std::string> result;
    for (const Tactic* tactic : tactics_for(list, node)) result.push_back(tactic->name);
    return result;
  };
  EXPECT_THAT(names("Tanh"), ElementsAre("first", "third"));
  EXPECT_THAT(names("Conv"), ElementsAre("second"));
  EXPECT_THAT(names("Rel"), IsEmpty());
}

TEST(Requirements, HaveOneSentenceEach) {
  const Step integers({1, 2}, {1, 2}, DType::kInt64);
  EXPECT_EQ(only_float32(integers.request()).text(), "only float32 models");
  const Step plain({1}, {1});
  StepRequest floats = plain.request();
  floats.policy.storage = DType::kFloat32;
  EXPECT_EQ(only_fp16_and_bf16(floats).text(), "only fp16 and bf16");
  for (const DType half : {DType::kFloat16, DType::kBFloat16}) {
    floats.policy.storage = half;
    EXPECT_FALSE(only_fp16_and_bf16(floats));
  }
  EXPECT_EQ(nonempty_input(Step({1, 0}, {1}).request()).text(), "the input is empty");
  EXPECT_EQ(nonempty_output(Step({1}, {0, 1}).request()).text(), "the output is empty");
  EXPECT_EQ(one_to_three_axes(integers.request()).text(), "only 1-D, 2-D and 3-D windows");
  EXPECT_TRUE(one_to_three_axes(Step({1, 1, 1, 1, 1, 1}, {1}).request()));
  const Step images({1, 2, 3}, {1, 2, 3});
  for (const Requirement requirement : {only_float32, nonempty_input, nonempty_output, one_to_three_axes})
    EXPECT_FALSE(requirement(images.request()));
}

}  // namespace
}  // namespace hone::engine
