// A region gives what the nodes of its body give one by one.
#include <gtest/gtest.h>

#include "graph/text/parser.hpp"
#include "reference/interpreter.hpp"
#include "reference/single_node.hpp"

namespace hone::reference {
namespace {

using tensor::Tensor;

TEST(Region, IsItsBody) {
  const graph::Graph graph = graph::parse_graph(R"(
    graph (%x: float32[N, 2, 3, 3], %z: float32[N, 4, 3, 3]) -> (%y, %q) {
      %w = const float32[4, 2, 3, 3] seeded(1)
      %y, %q = Region(%x, %w, %z) {
        kind = "any",
        body = graph (%in0, %in1, %in2) -> (%pool, %conv) {
          %conv = FusedConv(%in0, %in1, _, %in2)
            {pads = [1, 1, 1, 1], post_ops = ["add", "relu"], post_alphas = [0, 0], post_betas = [0, 0]}
          %pool = GlobalAveragePool(%conv)
        }
      }
    })");
  const graph::Graph apart = graph::parse_graph(R"(
    graph (%x: float32[N, 2, 3, 3], %z: float32[N, 4, 3, 3]) -> (%y, %q) {
      %w = const float32[4, 2, 3, 3] seeded(1)
      %c = Conv(%x, %w) {pads = [1, 1, 1, 1]}
      %s = Add(%c, %z)
      %q = Relu(%s)
      %y = GlobalAveragePool(%q)
    })");
  for (const int64_t batch : {1, 2}) {
    const std::vector<Tensor> inputs = {ramp({batch, 2, 3, 3}, -2, 0.2f), ramp({batch, 4, 3, 3}, -5, 0.3f)};
    const auto actual = run_graph(graph, inputs);
    const auto expected = run_graph(apart, inputs);
    ASSERT_EQ(actual.size(), 2u);
    for (size_t i = 0; i < 2; ++i) {
      ASSERT_EQ(actual[i].shape(), expected[i].shape());
      const auto a = actual[i].to_double();
      const auto e = expected[i].to_double();
      // The parts round to float once, the nodes apart three times.
      for (size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], e[k], 3e-7 * std::max(1.0, std::abs(e[k])));
    }
  }
}

TEST(Region, ErrorsNameTheNodeOfTheBody) {
  const graph::Graph graph = graph::parse_graph(R"(
    graph (%x: float32[N], %i: int64[N]) -> (%y) {
      %y = Region(%x, %i) { kind = "any", body = graph (%a, %b) -> (%c) { %c = Gather(%a, %b) } }
    })");
  try {
    run_graph(graph, std::vector<Tensor>{ramp({1}), Tensor::of<int64_t>({7}, {1})});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_NE(std::string(error.what()).find("node 'c' (Gather)"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace hone::reference
