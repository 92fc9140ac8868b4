// From a model to the record of a partition, and from the record's file back to what runs.
#include "backend/partition/partitioner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "backend/partition/checked_blocks.hpp"
#include "backend/partition/partition_backend.hpp"
#include "backend/partition/partition_support.hpp"
#include "backend/registry.hpp"
#include "base/json.hpp"
#include "base/partition_file.hpp"
#include "base/partition_schema.hpp"

namespace hone::backend::partition {
namespace {

using test::Graph;
using test::GraphBuilder;
using test::ValueId;
using testing::HasSubstr;

/// conv1 .. with a Softmax in the middle, and a diamond.
Graph small_network() {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 4, 8, 8});
  const ValueId a = b.node("Relu", {b.conv(x, 4, 8)});
  const ValueId c = b.node("Softmax", {a}, {{"axis", int64_t{1}}});
  const ValueId d = b.node("Add", {b.conv(c, 8, 8), a});
  return b.finish({b.node("Relu", {d}), c});
}

PartitionRequest request_of(Graph graph, std::vector<std::string> backends) {
  PartitionRequest request;
  auto shared = std::make_shared<const Graph>(std::move(graph));
  request.model = {"small", {}, shared, {}};
  request.spec = "small";
  for (const ValueId id : shared->inputs) {
    test::Shape& shape = request.options.input_shapes[shared->value(id).name];
    for (const graph::Dim& dim : *shared->value(id).type.dims) shape.push_back(dim.known() ? dim.value() : 1);
  }
  request.backends = std::move(backends);
  request.min_block_size = 1;
  request.inputs = [shared] { return test::random_inputs(*shared, 1, 1); };
  return request;
}

template <class F>
std::pair<ErrorKind, std::string> failure_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return {error.kind(), error.what()};
  }
  return {ErrorKind::kInternal, "nothing failed"};
}

TEST(Partitioner, ABackendThatTakesEverythingGetsEverything) {
  const base::PartitionRecord record = find_partition(request_of(small_network(), {"hone", "reference"}));
  ASSERT_EQ(record.blocks.size(), 1);
  EXPECT_EQ(record.blocks[0].backend, "hone");
  EXPECT_EQ(record.statistics.coverage, 1);
  EXPECT_LE(*record.bound_ms, *record.predicted_ms);
}

TEST(Partitioner, WhatIsExcludedGoesToTheLastBackendWithItsReason) {
  PartitionRequest request = request_of(small_network(), {"hone", "reference"});
  request.excluded = {"Softmax"};
  const base::PartitionRecord record = find_partition(request);
  EXPECT_EQ(record.nodes[2].op, "Softmax");
  EXPECT_EQ(record.nodes[2].refusals[0], "excluded by --exclude");
  EXPECT_FALSE(record.nodes[2].times_us[0].has_value());
  EXPECT_EQ(record.blocks[static_cast<size_t>(record.nodes[2].block)].backend, "reference");
  EXPECT_THAT(record.statistics.unsupported, testing::ElementsAre(testing::Pair(std::string("Softmax"), 1)));
  EXPECT_EQ(record.statistics.supported, 5);
  const auto& alone = record.plans[2];
  EXPECT_EQ(alone.name, "hone alone");
  EXPECT_EQ(alone.refusal, "it refuses 1 of 6 nodes");
}

/// By hand: 2 kB = 8 x 8 x 8 floats cross between the blocks.
TEST(Partitioner, BordersSayWhatCrosses) {
  PartitionRequest request = request_of(small_network(), {"hone", "reference"});
  request.excluded = {"Softmax"};
  const base::PartitionRecord record = find_partition(request);
  int64_t inner = 0;
  for (const base::PartitionBorder& border : record.borders) {
    if (border.from < 0 || border.to < 0) continue;
    ++inner;
    EXPECT_EQ(border.value.bytes, 8 * 8 * 8 * 4);
    EXPECT_EQ(border.value.type, "float32[1x8x8x8]");
  }
  EXPECT_EQ(inner, record.plans[0].borders);
}

TEST(Partitioner, TheFileGivesTheSameRecordAndRuns) {
  PartitionRequest request = request_of(small_network(), {"hone", "reference"});
  request.excluded = {"Softmax"};
  const base::PartitionRecord record = find_partition(request);
  const std::string text = base::partition_text(record);
  EXPECT_EQ(base::partition_text(base::parse_partition(text)), text);
  EXPECT_LE(check_outputs(request, record), test::rounding_tolerance(*request.model.graph));

  const auto file =
      std::filesystem::temp_directory_path() / fmt::format("hone_partition_{}.json", ::getpid());
  std::ofstream(file) << text;
  const auto backend = make_backend("partition:" + file.string());
  const auto executable = backend->load(request.model, request.options);
  const auto inputs = request.inputs();
  const auto expected = reference::run_graph(*request.model.graph, inputs);
  const auto actual = executable->run(inputs);
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_LE(test::relative_error(actual[i], expected[i]), test::rounding_tolerance(*request.model.graph));
  const auto other = request_of(test::random_wiring(1, 5), {"hone"});
  const auto [kind, sentence] = failure_of([&] { backend->load(other.model, other.options); });
  EXPECT_EQ(kind, ErrorKind::kBadInput);
  EXPECT_THAT(sentence, HasSubstr("this is a partition of another model (small"));
  std::filesystem::remove(file);
}

TEST(Partitioner, MeasuredTimesAreUsedAndKept) {
  PartitionRequest request = request_of(small_network(), {"hone", "reference"});
  request.measure = true;
  const base::PartitionRecord record = find_partition(request);
  EXPECT_TRUE(record.measured);
  ASSERT_TRUE(record.measured_ms.has_value());
  EXPECT_GT(*record.measured_ms, 0);
  EXPECT_GT(*record.predicted_ms, 0);
  for (const base::PartitionPlan& plan : record.plans) EXPECT_TRUE(plan.measured_ms.has_value()) << plan.name;
  request.measure = false;
  const base::PartitionRecord again = find_partition(request);
  EXPECT_TRUE(again.measured);
  EXPECT_FALSE(again.measured_ms.has_value());
  EXPECT_DOUBLE_EQ(*again.plans[2].predicted_ms, *record.plans[2].predicted_ms);
}

TEST(Partitioner, TheWholeModelIsRequired) {
  PartitionRequest request = request_of(small_network(), {"hone", "reference"});
  request.require_full = true;
  EXPECT_EQ(find_partition(request).blocks.size(), 1);
  request.excluded = {"Softmax", "Relu"};
  const auto [kind, sentence] = failure_of([&] { find_partition(request); });
  EXPECT_EQ(kind, ErrorKind::kThreshold);
  EXPECT_EQ(sentence,
            "hone does not take the whole model: it refuses 3 of 6 nodes; node 'Relu1' (Relu): excluded by "
            "--exclude; "
            "node 'Softmax1' (Softmax): excluded by --exclude; node 'Relu2' (Relu): excluded by --exclude");
}

TEST(Partitioner, WrongRequestsAreUsageErrors) {
  const auto usage = [](const std::function<void(PartitionRequest&)>& change) {
    PartitionRequest request = request_of(small_network(), {"hone", "reference"});
    change(request);
    const auto [kind, sentence] = failure_of([&] { find_partition(request); });
    EXPECT_EQ(kind, ErrorKind::kUsage) << sentence;
    return sentence;
  };
  EXPECT_THAT(usage([](auto& r) {
                r.backends = {"hone", "nothing"};
              }),
              HasSubstr("unknown backend 'nothing'"));
  EXPECT_EQ(usage([](auto& r) { r.backends = {"hone", "hone"}; }), "the backend hone is named twice");
  EXPECT_EQ(usage([](auto& r) { r.backends = {"partition:x"}; }),
            "'partition:x' is a partition, and no backend to share nodes out to");
  EXPECT_EQ(usage([](auto& r) { r.excluded = {"Sofmax"}; }), "'Sofmax' is no operator (hone ops lists them)");
  EXPECT_EQ(usage([](auto& r) { r.min_block_size = 0; }), "a block of 0 nodes is none: give 1 or more");
}

TEST(Partitioner, AnExcludedOperatorThatIsNotThereIsToldOf) {
  PartitionRequest request = request_of(small_network(), {"hone", "reference"});
  request.excluded = {"MaxPool"};
  EXPECT_THAT(find_partition(request).notes,
              testing::Contains("--exclude MaxPool: the model has no such node"));
}

TEST(Partitioner, AModelWithoutNodesIsBadInput) {
  GraphBuilder b;
  const ValueId x = b.input("x", {4});
  const auto [kind, sentence] = failure_of([&] { find_partition(request_of(b.finish({x}), {"hone"})); });
  EXPECT_EQ(kind, ErrorKind::kBadInput);
  EXPECT_EQ(sentence, "small has no nodes to share out: its outputs are inputs or constants");
}

/// A sound record with one change made in its JSON.
std::string forged(const std::function<void(Json&)>& change) {
  PartitionRequest request = request_of(small_network(), {"hone", "reference"});
  request.excluded = {"Softmax"};
  Json json = Json::parse(base::partition_text(find_partition(request)));
  json["blocks"] = Json::array();
  for (const std::vector<int>& nodes : std::vector<std::vector<int>>{{0, 1}, {2}, {3, 4, 5}}) {
    Json block = {
        {"backend", nodes.size() == 1 ? "reference" : "hone"}, {"nodes", nodes}, {"counted", nodes.size()}};
    for (const char* list : {"inputs", "outputs"}) block[list] = Json::array();
    block.update({{"nodes_ms", 1}, {"launch_ms", 1}, {"measured_ms", nullptr}, {"note", ""}});
    json["blocks"].push_back(block);
  }
  for (Json& node : json["nodes"]) node["block"] = 0;
  json["borders"] = Json::array();
  change(json);
  const auto [kind, sentence] = failure_of([&] {
    std::vector<std::string> names;
    const auto prepared = prepare(request.model.graph, "small");
    checked_blocks(base::parse_partition(json.dump()), *prepared, &names);
  });
  EXPECT_TRUE(kind == ErrorKind::kBadInput || sentence == "nothing failed") << sentence;
  return sentence;
}

TEST(PartitionFile, ForgedOnesAreBadInput) {
  EXPECT_EQ(forged([](Json&) {}), "nothing failed");
  EXPECT_EQ(forged([](Json& j) {
              j["blocks"][1]["nodes"] = {2, 3};
            }),
            "node 'Conv2' (Conv) is in block 1 and in block 2");
  EXPECT_EQ(forged([](Json& j) { j["blocks"][0]["nodes"] = {0}; }), "node 'Relu1' (Relu) is in no block");
  EXPECT_EQ(forged([](Json& j) {
              j["blocks"][0]["nodes"] = {0, 0, 1};
            }),
            "node 'Conv1' (Conv) is in block 0 and in block 0");
  EXPECT_EQ(forged([](Json& j) {
              j["blocks"][0]["nodes"] = {0, 1, 6};
            }),
            "block 0 names node 6, and the model has 6");
  EXPECT_EQ(forged([](Json& j) {
              j["blocks"][0]["nodes"] = {-1, 0, 1};
            }),
            "block 0 names node -1, and the model has 6");
  EXPECT_EQ(forged([](Json& j) {
              j["blocks"][0]["nodes"] = {0, 1, 3, 4, 5};
              j["blocks"].erase(2);
            }),
            "blocks wait for each other: a path leaves one and comes back to it");
  EXPECT_EQ(forged([](Json& j) { j["blocks"][2]["nodes"] = Json::array(); }), "block 2 has no nodes");
  EXPECT_THAT(forged([](Json& j) { j["blocks"][1]["backend"] = "partition:x"; }),
              HasSubstr("unknown backend 'partition:x'"));
  EXPECT_THAT(forged([](Json& j) { j["fingerprint"] = "0"; }),
              HasSubstr("this is a partition of another model"));
  EXPECT_EQ(forged([](Json& j) { j["version"] = 2; }), "the file has version 2, not 1");
  EXPECT_EQ(forged([](Json& j) { j["schema"] = "hone.bench"; }),
            "the field schema is not hone.partition: this is no partition");
  EXPECT_EQ(forged([](Json& j) { j["nodes"][0]["block"] = 3; }),
            "the field nodes[0].block is 3, and there are 3 blocks");
  EXPECT_EQ(forged([](Json& j) { j["blocks"][0]["nodes"][0] = 1e300; }),
            "the field blocks[0].nodes[0] is no integer");
  EXPECT_EQ(forged([](Json& j) { j["threads"] = 0; }), "the field threads is 0, below 1");
  EXPECT_EQ(forged([](Json& j) { j.erase("blocks"); }), "the field blocks is missing");
}

TEST(PartitionFile, WhatIsNoJsonOrTooDeepIsBadInput) {
  EXPECT_EQ(failure_of([] { base::parse_partition("{"); }).second, "this is no JSON file");
  EXPECT_EQ(failure_of([] { base::parse_partition(std::string(100, '[')); }).second,
            "lists and objects nest more than 64 deep");
  EXPECT_EQ(failure_of([] { make_backend("partition:/nowhere/p.json"); }).first, ErrorKind::kBadInput);
}

}  // namespace
}  // namespace hone::backend::partition
