// The properties that tell steps apart for the timing cache.
#include "engine/search/step_signature.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/text/parser.hpp"
#include "support/graph_builder.hpp"

namespace hone::engine {
namespace {

using test::GraphBuilder;

std::string signature(const graph::Graph& graph, size_t node) {
  const std::vector<NumericPolicy> policies = {policy_of(Precision::kFp16)};
  return step_signature(graph, graph.nodes[node], Layout::kPlain, policies);
}

TEST(StepSignature, EqualStepsShareOne) {
  GraphBuilder b;
  const auto x = b.input("x", {1, 4, 8, 8});
  const auto graph = b.finish({b.node("Tanh", {b.node("Relu", {b.node("Relu", {x})})})});
  EXPECT_EQ(signature(graph, 0), signature(graph, 1));
  EXPECT_NE(signature(graph, 0), signature(graph, 2));
}

TEST(StepSignature, AResultThatLeavesTheGraphMakesAnotherStep) {
  // A tactic may write it as floats at once.
  GraphBuilder b;
  const auto x = b.input("x", {1, 4, 8, 8});
  const auto graph = b.finish({b.node("Relu", {b.node("Relu", {x})})});
  EXPECT_NE(signature(graph, 0), signature(graph, 1));
}

TEST(StepSignature, NamesThePoliciesToChooseFrom) {
  GraphBuilder b;
  const auto graph = b.finish({b.node("Relu", {b.input("x", {4})})});
  const NumericPolicy half = policy_of(Precision::kFp16);
  const NumericPolicy single = policy_of(Precision::kFp32);
  const auto of = [&](const std::vector<NumericPolicy>& policies) {
    return step_signature(graph, graph.nodes[0], Layout::kPlain, policies);
  };
  EXPECT_THAT(of({half, single}), ::testing::StartsWith("Relu plain fp16+fp32 "));
  EXPECT_NE(of({half, single}), of({single, half})) << "the first is the favourite";
  EXPECT_NE(of({policy_of(Precision::kBf16)}), of({emulated_bf16()}));
}

TEST(StepSignature, BodiesArePartOfIt) {
  const auto with = [](const std::string& text) { return signature(graph::parse_graph(text), 0); };
  const auto region = [&](const std::string& kind, const std::string& body) {
    return with("graph (%x: float32[2, 3]) -> (%y) { %y = Region(%x) {kind = \"" + kind +
                "\", body = " + body + "} }");
  };
  const std::string body = region("pair", "graph (%a) -> (%c) { %b = Relu(%a) %c = Neg(%b) }");
  EXPECT_EQ(body, region("pair", "graph (%p) -> (%r) { %q = Relu(%p) %r = Neg(%q) }")) << "names";
  EXPECT_NE(body, region("couple", "graph (%a) -> (%c) { %b = Relu(%a) %c = Neg(%b) }")) << "the kind";
  EXPECT_NE(body, region("pair", "graph (%a) -> (%c) { %b = Tanh(%a) %c = Neg(%b) }")) << "an operator";
  EXPECT_NE(body, region("pair", "graph (%a) -> (%c) { %b = Relu(%a) %c = Neg(%a) }")) << "what is read";
  EXPECT_NE(body, region("pair", "graph (%a) -> (%b) { %b = Relu(%a) %c = Neg(%b) }")) << "what leaves it";
  const auto concat = [&](const char* axis) {
    return region("pair", std::string("graph (%a) -> (%b) { %b = Concat(%a, %a) {axis = ") + axis + "} }");
  };
  EXPECT_NE(concat("0"), concat("1")) << "an attribute";
  EXPECT_THAT(body, ::testing::Not(::testing::HasSubstr("%")));
}

TEST(StepSignature, StringsThatAreNotUtf8CanStandInAFile) {
  const auto with = [](const std::string& word) {
    GraphBuilder b;
    const std::vector<int64_t> one = {0};
    const auto x = b.input("x", {4}, tensor::DType::kInt64);
    const auto graph = b.finish({b.node("TfIdfVectorizer", {x},
                                        {{"mode", std::string("TF")},
                                         {"min_gram_length", int64_t{1}},
                                         {"max_gram_length", int64_t{1}},
                                         {"max_skip_count", int64_t{0}},
                                         {"ngram_counts", one},
                                         {"ngram_indexes", one},
                                         {"pool_int64s", one},
                                         {"pool_strings", std::vector<std::string>{word}}})});
    return signature(graph, 0);
  };
  EXPECT_THAT(with("caf\xe9"), ::testing::HasSubstr("caf\\xe9"));
  EXPECT_NE(with("\xff"), with("\xfe"));
}

}  // namespace
}  // namespace hone::engine
