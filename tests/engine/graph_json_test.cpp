// Graphs as JSON: attributes come back exactly, and every tensor that is read has its bytes.
#include "engine/graph_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/graph_builder.hpp"

namespace hone::engine {
namespace {

using graph::Dim;
using graph::Graph;
using test::GraphBuilder;
using ::testing::HasSubstr;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// A graph as JSON, beside the blobs that it speaks of.
struct Written {
  explicit Written(const Graph& graph) {
    const auto write = [this](const std::byte* data, int64_t size) {
      blobs.emplace_back(data, data + size);
      return static_cast<int64_t>(blobs.size()) - 1;
    };
    json = graph_to_json(graph, write, [](graph::ValueId) { return true; });
  }

  /// As it comes back from a file's text.
  Graph read() const {
    const auto of_blob = [this](int64_t blob,
                                int64_t) -> std::pair<const std::byte*, std::shared_ptr<const void>> {
      return {blobs.at(static_cast<size_t>(blob)).data(), nullptr};
    };
    return graph_from_json(Json::parse(json.dump()), of_blob);
  }

  std::string refusal() const {
    try {
      read();
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
      return error.what();
    }
  }

  Json json;
  std::vector<std::vector<std::byte>> blobs;
};

Graph leaky(float alpha) {
  GraphBuilder b;
  return b.finish({b.node("LeakyRelu", {b.input("x", {4})}, {{"alpha", alpha}})});
}

float alpha_of(const Graph& graph) { return graph.nodes[0].attributes.get<float>("alpha"); }

TEST(GraphJson, FloatsThatAreNotFiniteComeBack) {
  for (const float alpha : {0.1f, kInfinity, -kInfinity})
    EXPECT_EQ(alpha_of(Written(leaky(alpha)).read()), alpha);
  EXPECT_TRUE(std::isnan(alpha_of(Written(leaky(kNan)).read())));
}

TEST(GraphJson, ListsOfFloatsThatAreNotFiniteComeBack) {
  GraphBuilder b;
  const auto x = b.input("x", {1, 1, 2});
  const Graph graph =
      b.finish({b.node("RNN", {x, b.random({1, 3, 2}), b.random({1, 3, 3})},
                       {{"hidden_size", int64_t{3}},
                        {"activation_alpha", std::vector<float>{-kInfinity, 0.1f, kInfinity, kNan}}})});
  const Graph back = Written(graph).read();
  const auto& list = back.nodes[0].attributes.get<std::vector<float>>("activation_alpha");
  ASSERT_EQ(list.size(), size_t{4});
  EXPECT_EQ(list[0], -kInfinity);
  EXPECT_EQ(list[1], 0.1f);
  EXPECT_EQ(list[2], kInfinity);
  EXPECT_TRUE(std::isnan(list[3]));
}

TEST(GraphJson, OtherWordsAreNoFloats) {
  Written written(leaky(kInfinity));
  written.json["nodes"][0]["attributes"]["alpha"][1] = "infinite";
  EXPECT_EQ(written.refusal(), "'infinite' is no number");
}

TEST(GraphJson, ANodeHasTheOutputsThatItMustHave) {
  Written written(leaky(0.5F));
  written.json["nodes"][0]["outputs"][0] = -1;
  EXPECT_THAT(written.refusal(), HasSubstr("required output 0 is missing"));
}

TEST(GraphJson, AnAttributeThatIsATensorHasABlob) {
  GraphBuilder b;
  const auto shape = b.node("Shape", {b.input("x", {Dim::symbol("n"), 4})});
  Written written(
      b.finish({b.node("ConstantOfShape", {shape}, {{"value", tensor::Tensor::of<float>({3}, {1})}})}));
  EXPECT_EQ(written.refusal(), "");
  written.json["nodes"][1]["attributes"]["value"][1].erase("blob");
  EXPECT_EQ(written.refusal(), "a tensor of 4 bytes has no blob");
}

/// An If of which each branch adds a constant.
Graph branching() {
  std::vector<std::shared_ptr<Graph>> branches;
  for (int i = 0; i < 2; ++i) {
    GraphBuilder branch;
    const auto x = branch.input("x", {4});
    branches.push_back(std::make_shared<Graph>(branch.finish({branch.node("Add", {x, branch.random({4})})})));
  }
  GraphBuilder b;
  const auto condition = b.input("c", {}, tensor::DType::kBool);
  const auto x = b.input("x", {4});
  return b.finish(
      {b.node("If", {condition, x},
              {{"then_branch", branches[0]}, {"else_branch", branches[1]}, {"num_captures", int64_t{1}}})});
}

TEST(GraphJson, AConstantOfASubgraphHasABlob) {
  Written written(branching());
  EXPECT_EQ(written.refusal(), "");
  for (Json& value : written.json["nodes"][0]["attributes"]["then_branch"][1]["values"]) {
    if (value.contains("constant")) value["constant"].erase("blob");
  }
  EXPECT_EQ(written.refusal(), "a tensor of 16 bytes has no blob");
}

TEST(GraphJson, AConstantOfTheGraphMayBeStoredInPackedFormsAlone) {
  GraphBuilder b;
  Written written(b.finish({b.node("Add", {b.input("x", {4}), b.random({4})})}));
  for (Json& value : written.json["values"]) {
    if (value.contains("constant")) value["constant"].erase("blob");
  }
  EXPECT_EQ(written.refusal(), "");
}

}  // namespace
}  // namespace hone::engine
