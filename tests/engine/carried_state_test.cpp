// Outputs that feed inputs: which ones a pattern names, and what they are from run to run.
#include "engine/carried_state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "graph/infer.hpp"
#include "graph/text/parser.hpp"
#include "support/usage_error.hpp"

namespace hone::engine {
namespace {

using tensor::Shape;
using tensor::Tensor;
using test::usage_error;

/// Two caches that grow by what is new, a state that is replaced, and a sum of what is in the first cache.
graph::Graph make_decoder() {
  graph::Graph graph = graph::parse_graph(R"(
graph (%x: float32[batch, new], %past.0.key: float32[batch, past], %past.1.key: float32[batch, past],
       %h: float32[batch, 2]) -> (%y, %present.0.key, %present.1.key, %h_next) {
  %present.0.key = Concat(%past.0.key, %x) {axis = 1}
  %present.1.key = Concat(%past.1.key, %x) {axis = 1}
  %axes = const int64[1] [1]
  %y = ReduceSum(%present.0.key, %axes)
  %h_next = Add(%h, %y)
}
)");
  graph::infer_types(graph);
  return graph;
}

std::string refusal(const std::vector<std::string>& texts) {
  const graph::Graph graph = make_decoder();
  return usage_error([&] { parse_carries(graph, texts); });
}

TEST(Carries, PatternsNameWhatTheirStarsStandFor) {
  const graph::Graph graph = make_decoder();
  const std::vector<std::string> texts{"past.*.*=present.*.*", "h=h_next"};
  const std::vector<Carry> carries = parse_carries(graph, texts);
  ASSERT_EQ(carries.size(), 3U);
  EXPECT_EQ(carries[0].input, 1U);
  EXPECT_EQ(carries[0].output, 1U);
  EXPECT_EQ(carries[1].input, 2U);
  EXPECT_EQ(carries[1].output, 2U);
  EXPECT_EQ(carries[2].input, 3U);
  EXPECT_EQ(carries[2].output, 3U);
}

/// However many stars there are.
TEST(Carries, StarsAreAsShortAsCanBe) {
  graph::Graph graph = graph::parse_graph(R"(
graph (%a.b.b: float32[2], %aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: float32[2]) -> (%p_q.b, %y) {
  %p_q.b = Abs(%a.b.b)
  %y = Abs(%aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa)
}
)");
  graph::infer_types(graph);
  const std::vector<Carry> carries = parse_carries(graph, std::vector<std::string>{"a*.b*=p*_q*"});
  ASSERT_EQ(carries.size(), 1U);
  EXPECT_EQ(carries[0].input, 0U);
  EXPECT_EQ(carries[0].output, 0U);
  std::string many = "a";
  for (int i = 0; i < 30; ++i) many += "*a";
  const std::string text = many + "*b=" + many + "*b";
  EXPECT_EQ(usage_error([&] { parse_carries(graph, std::vector{text}); }).substr(0, 10), "binding a*");
  const std::string stars(60000, '*');
  EXPECT_EQ(usage_error([&] { parse_carries(graph, std::vector{stars + "=" + stars}); }).substr(0, 9),
            "binding *");
}

TEST(Carries, WhatFitsNothingIsRefusedWithWhatIsThere) {
  const std::string inputs = "x, past.0.key, past.1.key, h";
  const std::string outputs = "y, present.0.key, present.1.key, h_next";
  EXPECT_EQ(refusal({"h"}), "binding h: it is written INPUT=OUTPUT, as past_key_values.*=present.*");
  EXPECT_EQ(refusal({"=h"}), "binding =h: it is written INPUT=OUTPUT, as past_key_values.*=present.*");
  EXPECT_EQ(refusal({"h="}), "binding h=: it is written INPUT=OUTPUT, as past_key_values.*=present.*");
  EXPECT_EQ(refusal({"past.*=h_next"}), "binding past.*=h_next: both sides need the same number of *");
  EXPECT_EQ(refusal({"c.*=present.*"}),
            "binding c.*=present.*: the model has no input 'c.*'; its inputs are " + inputs);
  EXPECT_EQ(refusal({"past.*=now.*"}),
            "binding past.*=now.*: the model has no output 'now.0.key' for the input "
            "'past.0.key'; its outputs are " +
                outputs);
  EXPECT_EQ(refusal({"past.*=present.*", "past.1.key=y"}),
            "binding past.1.key=y: input 'past.1.key' is bound already");
  EXPECT_EQ(refusal({"past.0.key=y", "past.1.key=y"}), "binding past.1.key=y: output 'y' is bound already");
  EXPECT_EQ(refusal({"h=y"}),
            "binding h=y: output 'y' of type float32[batchx1] can never be input 'h' of type "
            "float32[batchx2]");
}

/// Sums and appends as the graph says; notes what it was given.
std::vector<Tensor> append(std::span<const Tensor> inputs) {
  std::vector<float> all;
  for (const Tensor* part : {&inputs[1], &inputs[0]})
    all.insert(all.end(), part->values<float>().begin(), part->values<float>().end());
  const auto count = static_cast<int64_t>(all.size());
  const Tensor present = Tensor::of<float>(all, {1, count});
  return {inputs[0], present, present, Tensor::of<float>({static_cast<float>(count), 0.0F}, {1, 2})};
}

TEST(CarriedRuns, CachesBeginEmptyAndGrow) {
  const graph::Graph graph = make_decoder();
  const std::vector<std::string> texts{"past.*=present.*", "h=h_next"};
  CarriedRuns runs(graph, parse_carries(graph, texts));
  std::vector<Tensor> inputs(4);
  inputs[0] = Tensor::of<float>({1, 2}, {1, 2});
  const std::vector<Tensor> first = runs.next_inputs(inputs);
  EXPECT_EQ(first[1].shape(), (Shape{1, 0})) << "the batch of x, and nothing yet";
  EXPECT_EQ(first[3].shape(), (Shape{1, 2}));
  EXPECT_EQ(first[3].to_double(), (std::vector<double>{0, 0}));
  std::vector<Tensor> outputs = runs.run(inputs, append);
  EXPECT_TRUE(outputs[0].defined());
  EXPECT_FALSE(outputs[1].defined()) << "moved";
  inputs[0] = Tensor::of<float>({3}, {1, 1});
  runs.run(inputs, append);
  EXPECT_EQ(runs.state(1).to_double(), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(runs.state_of_input(3).to_double(), (std::vector<double>{3, 0}));
  runs.reset();
  EXPECT_EQ(runs.next_inputs(inputs)[1].shape(), (Shape{1, 0}));
}

TEST(CarriedRuns, ValuesAreMovedAndSurviveARunThatFails) {
  const graph::Graph graph = make_decoder();
  const std::vector<std::string> texts{"past.0.key=present.0.key"};
  CarriedRuns runs(graph, parse_carries(graph, texts));
  std::vector<Tensor> inputs(4);
  inputs[0] = Tensor::of<float>({1}, {1, 1});
  runs.set(1, Tensor::of<float>({7}, {1, 1}));
  const std::byte* made = nullptr;
  runs.run(inputs, [&](auto all) {
    std::vector<Tensor> outputs = append(all);
    made = outputs[1].bytes();
    return outputs;
  });
  EXPECT_EQ(runs.state(1).bytes(), made);
  EXPECT_THROW(runs.run(inputs, [](auto) -> std::vector<Tensor> { fail_bad_input("no"); }), Error);
  EXPECT_EQ(runs.state(1).to_double(), (std::vector<double>{7, 1}));
}

}  // namespace
}  // namespace hone::engine
