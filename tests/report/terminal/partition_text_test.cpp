// The text about a partition.
#include "report/terminal/partition_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::report {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

base::PartitionRecord record_of_two_blocks() {
  base::PartitionRecord record;
  record.model = "net";
  record.times = "estimated";
  record.algorithm = "smallest cut";
  record.input_shapes = {{"x", {1, 4}}};
  record.predicted_ms = 2;
  record.backends = {{.name = "hone", .taken = 1}, {.name = "torch", .taken = 2}};
  record.nodes = {{.name = "a", .op = "Relu", .refusals = {"", ""}, .times_us = {1, 2}},
                  {.name = "b\x1b[2J",
                   .op = "Strange",
                   .block = 1,
                   .predecessors = {0},
                   .refusals = {"no kernel computes Strange", ""},
                   .times_us = {std::nullopt, 2}}};
  record.blocks = {{.backend = "hone", .nodes = {0}, .counted = 1},
                   {.backend = "torch", .nodes = {1}, .counted = 1}};
  record.borders = {{.value = {"y", "float32[1x4]", 16}, .from = 0, .to = 1, .copies = 1, .time_ms = 0.25}};
  record.plans = {{.name = "best", .blocks = 2, .borders = 1, .predicted_ms = 2, .chosen = true},
                  {.name = "hone alone", .refusal = "it refuses 1 of 2 nodes"}};
  record.statistics = {.nodes = 2,
                       .supported = 1,
                       .coverage = 0.5,
                       .first_blocks = 1,
                       .average_nodes = 1,
                       .most_nodes = 1,
                       .unsupported = {{"Strange", 1}}};
  return record;
}

TEST(PartitionText, SaysWhoTakesWhatAndWhyNot) {
  const auto lines = partition_text(record_of_two_blocks());
  EXPECT_THAT(lines, Contains("net on hone, torch (cpu, fp32, 1 threads; x:1x4)"));
  EXPECT_THAT(lines, Contains("  hone takes 1 of 2 nodes, 50.00 %"));
  EXPECT_THAT(lines, Contains(AllOf(HasSubstr("not Strange"), HasSubstr("no kernel computes Strange"))));
  EXPECT_THAT(lines, Contains(AllOf(HasSubstr("16 B"), HasSubstr("0.250"), HasSubstr("y float32[1x4]"))));
  EXPECT_THAT(lines, Contains(AllOf(HasSubstr("hone alone"), HasSubstr("cannot: it refuses 1 of 2 nodes"))));
  EXPECT_THAT(lines, Contains("  2 operators in the graph, 1 on hone: 50.00 % coverage"));
}

TEST(PartitionText, MeasuredTimesStandBesideThePrediction) {
  base::PartitionRecord record = record_of_two_blocks();
  record.measured_ms = 2.5;
  EXPECT_THAT(partition_text(record), Contains("  predicted 2.000 ms, measured 2.500 ms (+25.0 %)"));
  EXPECT_THAT(partition_text(record_of_two_blocks()),
              Not(Contains(HasSubstr("predicted 2.000 ms, measured"))));
}

TEST(PartitionText, NamesCannotDriveTheTerminal) {
  for (const std::string& line : partition_text(record_of_two_blocks()))
    EXPECT_EQ(line.find('\x1b'), std::string::npos) << line;
}

}  // namespace
}  // namespace hone::report
