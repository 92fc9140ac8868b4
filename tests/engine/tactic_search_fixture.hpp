// Helpers of the tests of the tactic search: networks, builds, an engine's log, and a cache's folder.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.hpp"
#include "base/json.hpp"
#include "engine/builder.hpp"
#include "engine/context.hpp"
#include "engine/fake_device.hpp"
#include "engine/plans.hpp"
#include "support/equivalence.hpp"

namespace hone::engine {

using test::GraphBuilder;

inline BuildOptions options(int level) {
  BuildOptions options;
  options.model = "fake";
  options.threads = 1;
  options.optimization_level = level;
  options.shapes["x"] = {{1, 4, 24, 24}, {1, 4, 24, 24}, {1, 4, 24, 24}};
  return options;
}

/// Enough for the median of one look at them to be robust against another process taking the processor.
constexpr int kLayers = 5;

/// The pools keep the activations from being fused with the convolutions; all Relu steps have one signature.
/// Most weights are positive: outputs that are all zero would be the same with any tactic.
inline graph::ValueId relu_layers(GraphBuilder& b, graph::ValueId x) {
  for (int i = 0; i < kLayers; ++i) {
    x = b.node("MaxPool", {b.node("Conv", {x, b.random({4, 4, 1, 1}, -0.2, 0.5)})},
               {{"kernel_shape", std::vector<int64_t>{3, 3}}, {"pads", std::vector<int64_t>{1, 1, 1, 1}}});
    x = b.node("Relu", {x});
  }
  return x;
}

inline graph::Graph relu_network() {
  GraphBuilder b;
  const auto x = relu_layers(b, b.input("x", {1, 4, 24, 24}));
  return b.finish({b.node("Transpose", {x}, {{"perm", std::vector<int64_t>{0, 2, 3, 1}}})});
}

/// Relu steps of different shapes, "relu 0" and so on, which are chosen apart.
inline graph::Graph shrinking_network(int layers) {
  GraphBuilder b;
  auto x = b.input("x", {1, 4, 24, 24});
  const std::vector<int64_t> window = {2, 2};
  for (int i = 0; i < layers; ++i) {
    x = b.node("MaxPool", {b.node("Conv", {x, b.random({4, 4, 1, 1}, -0.2, 0.5)})},
               {{"kernel_shape", window}, {"strides", window}});
    x = b.node("Relu", {x});
  }
  graph::Graph graph = b.finish({b.node("Transpose", {x}, {{"perm", std::vector<int64_t>{0, 2, 3, 1}}})});
  int count = 0;
  for (graph::Node& node : graph.nodes) {
    if (node.op == "Relu") node.name = fmt::format("relu {}", count++);
  }
  return graph;
}

/// Chosen tactic of every Relu step.
inline std::vector<std::string> relu_tactics(const Engine& engine) {
  std::vector<std::string> result;
  for (size_t i = 0; i < engine.graph->nodes.size() && !engine.plans.empty(); ++i) {
    if (engine.graph->nodes[i].op == "Relu")
      result.push_back(planned_tactic(engine, {static_cast<int32_t>(i), {}}));
  }
  return result;
}

/// The log's records of one tactic, or of one of its variants.
inline std::vector<TacticRecord> records(const Engine& engine, const std::string& tactic) {
  std::vector<TacticRecord> result;
  for (const TacticRecord& record : engine.log) {
    if (record.tactic == tactic) result.push_back(record);
  }
  return result;
}

inline void expect_right(const graph::Graph& graph, const std::shared_ptr<Engine>& engine,
                         const Device& device) {
  const auto inputs = test::random_inputs(graph, 7, 1);
  const auto expected = reference::run_graph(graph, inputs);
  const auto actual = Context(engine, device, 1).run(inputs);
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_LE(test::relative_error(actual[i], expected[i]), test::rounding_tolerance(graph));
}

/// The error of a build for entries that the cache lacks.
inline std::string lacks(const graph::Graph& graph, const Device& device, const BuildOptions& build) {
  try {
    build_engine(graph, device, build);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment) << error.what();
    return error.what();
  }
  return "";
}

/// The sentence, with its place.
template <class Action>
std::string bad_input(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput) << error.what();
    return error.what();
  }
  return "";
}

class TacticSearch : public ::testing::Test {
 protected:
  TacticSearch()
      : folder_(std::filesystem::temp_directory_path() /
                fmt::format("hone-search-{}-{}", ::getpid(),
                            ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
  }
  ~TacticSearch() override { std::filesystem::remove_all(folder_); }

  /// Lets every entry of the cache in the folder whose signature starts so choose another tactic, which has
  /// been timed by what the cache says. How many do.
  int choose_in_cache(const std::string& start, const std::string& tactic) const {
    int changed = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder_)) {
      if (file.path().extension() != ".json") continue;
      Json json = Json::parse(base::read_file(file.path()));
      for (auto& [signature, entry] : json["steps"].items()) {
        if (!signature.starts_with(start)) continue;
        entry["times"][tactic] = {1.0, 1.0, 7};
        entry["chosen"] = tactic;
        ++changed;
      }
      base::write_file_atomic(file.path(), json.dump());
    }
    return changed;
  }

  std::filesystem::path folder_;
};

}  // namespace hone::engine
