// Edges between layers and their rivals, also from traces that say what cannot be.
#include "analysis/questions/layer_graph.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "analysis/questions/layers.hpp"

namespace hone::analysis {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using trace::HostKind;
using trace::Trace;

void add_step(Trace& t, const std::string& name, const std::string& predecessors,
              const std::string& rivals = "") {
  trace::ModelStep step{.name = t.strings.intern(name)};
  step.predecessors = t.strings.intern(predecessors);
  step.rivals = t.strings.intern(rivals);
  t.model_steps.push_back(step);
}

/// An iteration in which these steps run, one after another.
LayerTable table_of(Trace& t, const std::vector<std::string>& ran) {
  const auto add = [&](HostKind kind, const std::string& name, Time start, Time end) {
    t.host_events.push_back({start, end, kind, t.strings.intern(name), t.thread_index(1, 1)});
  };
  add(HostKind::kStep, "ProfilerStep#0", 0, 100'000'000);
  for (size_t i = 0; i < ran.size(); ++i)
    add(HostKind::kEngineStep, ran[i], static_cast<Time>(10 * i), static_cast<Time>(10 * i + 5));
  normalize(t);
  return analyze_layers(t, find_steps(t));
}

std::vector<std::vector<int32_t>> edges(const LayerTable& table) {
  std::vector<std::vector<int32_t>> result;
  for (const Layer& layer : table.layers) result.push_back(layer.predecessors);
  return result;
}

TEST(LayerGraph, HasTheEdgesOfTheSteps) {
  Trace t;
  add_step(t, "a", "[]");
  add_step(t, "b", "[0]");
  add_step(t, "c", "[0]");
  add_step(t, "sum", "[2,1,1]");
  const LayerTable table = table_of(t, {"a", "b", "c", "sum"});
  EXPECT_THAT(edges(table), ElementsAre(IsEmpty(), ElementsAre(0), ElementsAre(0), ElementsAre(1, 2)));
  EXPECT_TRUE(table.notes.empty());
  EXPECT_EQ(to_json(table)["layers"][3]["predecessors"], Json({1, 2}));
}

TEST(LayerGraph, LeadsThroughStepsThatAreNoLayers) {
  Trace t;
  add_step(t, "a", "[]");
  add_step(t, "b", "[]");
  add_step(t, "view", "[0,1]");
  add_step(t, "view of it", "[2]");
  add_step(t, "c", "[3]");
  EXPECT_THAT(edges(table_of(t, {"a", "b", "c"})), ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(0, 1)));
}

TEST(LayerGraph, HasNoCyclesWhereStepsShareAName) {
  Trace t;
  add_step(t, "copy", "[]");
  add_step(t, "a", "[0]");
  add_step(t, "copy", "[1]");
  add_step(t, "b", "[2]");
  EXPECT_THAT(edges(table_of(t, {"copy", "a", "b"})), ElementsAre(IsEmpty(), ElementsAre(0), ElementsAre(0)));
}

TEST(LayerGraph, LeavesOutWhatIsNoEarlierStep) {
  for (const char* text : {"[1]", "[-1]", "[7]", "[18446744073709551615]", "[9223372036854775807]", "[1e300]",
                           "[0.5]", "[null]", "[[0]]", "[\"0\"]"}) {
    Trace t;
    add_step(t, "a", "[]");
    add_step(t, "b", text);
    const LayerTable table = table_of(t, {"a", "b"});
    EXPECT_THAT(edges(table), Each(IsEmpty())) << text;
    EXPECT_THAT(table.notes, ElementsAre("1 recorded predecessors of steps name no earlier step")) << text;
  }
  for (const char* text : {"", "7", "{}", "{\"0\":0}", "[0", "null", "[0,]"}) {
    Trace t;
    add_step(t, "a", "[]");
    add_step(t, "b", text);
    const LayerTable table = table_of(t, {"a", "b"});
    EXPECT_THAT(edges(table), Each(IsEmpty())) << text;
    EXPECT_TRUE(table.notes.empty()) << text;
  }
  Trace t;
  add_step(t, "a", "[]");
  add_step(t, "b", std::string(1'000'000, '[') + std::string(1'000'000, ']'));
  EXPECT_THAT(edges(table_of(t, {"a", "b"})), Each(IsEmpty()));
}

/// Gigabytes and minutes where every step's list is read and kept.
TEST(LayerGraph, IsNotToldWhereManyStepsRepeatALongList) {
  std::vector<int32_t> numbers(100'000);
  std::iota(numbers.begin(), numbers.end(), 0);
  const std::string list = fmt::format("[{}]", fmt::join(numbers, ","));
  std::string rivals = "[";
  for (int i = 0; i < 10'000; ++i) rivals += R"({"tactic":"a"},)";
  rivals += R"({"tactic":"b"}])";
  for (const bool are_layers : {true, false}) {
    Trace t;
    std::vector<std::string> ran = {"first", "last"};
    add_step(t, "first", "[]");
    // The long texts are one each, however many steps bear them.
    trace::ModelStep step;
    step.predecessors = t.strings.intern(list);
    step.rivals = t.strings.intern(rivals);
    for (int i = 0; i < 200'000; ++i) {
      const std::string name = fmt::format("s{}", i);
      step.name = t.strings.intern(name);
      t.model_steps.push_back(step);
      if (are_layers && i < 1000) ran.push_back(name);
    }
    add_step(t, "last", "[0]");
    const LayerTable table = table_of(t, ran);
    ASSERT_EQ(table.layers.size(), ran.size());
    EXPECT_THAT(edges(table), Each(IsEmpty()));
    for (const Layer& layer : table.layers) ASSERT_THAT(layer.rivals, IsEmpty());
  }
}

TEST(LayerGraph, KeepsRivalsAndTheirTimes) {
  Trace t;
  add_step(t, "a", "[]",
           R"([{"tactic":"direct","layout":"blocked8","time_us":12.5,"chosen":true,"refusal":""},)"
           R"({"tactic":"winograd","layout":"plain","time_us":0,"chosen":false,"refusal":"no 3x3"},)"
           R"(7,{},{"tactic":7},{"tactic":"odd","time_us":-4,"chosen":"yes","refusal":null}])");
  add_step(t, "b", "[0]", "no JSON");
  const LayerTable table = table_of(t, {"a", "b"});
  const Json rivals = to_json(table)["layers"][0]["rivals"];
  ASSERT_EQ(rivals.size(), 3U);
  EXPECT_EQ(rivals[0],
            Json::parse(R"({"tactic":"direct","layout":"blocked8","time_ns":12500.0,"chosen":true,)"
                        R"("refusal":""})"));
  EXPECT_EQ(rivals[1]["refusal"], "no 3x3");
  EXPECT_EQ(rivals[1]["time_ns"], 0);
  EXPECT_EQ(rivals[2]["tactic"], "odd");
  EXPECT_EQ(rivals[2]["time_ns"], 0);
  EXPECT_FALSE(rivals[2]["chosen"]);
  EXPECT_TRUE(table.layers[1].rivals.empty());
}

}  // namespace
}  // namespace hone::analysis
