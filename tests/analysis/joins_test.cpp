// Who launched what, with ids and without.
#include "analysis/joins.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/trace_builder.hpp"

namespace hone::analysis {
namespace {

using support::HostKind;
using support::TraceBuilder;
using ::testing::ElementsAre;

std::string name_at(const trace::Trace& trace, int32_t index) {
  return index < 0 ? "-" : trace.text(trace.host_events[static_cast<size_t>(index)].name);
}

TEST(Joins, TheOuterOfTwoCallsLaunched) {
  TraceBuilder b;
  b.host(HostKind::kDriverApi, "cuLaunchKernel", 12, 18).correlation = 5;
  b.api("cudaLaunchKernel", 10, 20, 5);
  b.api("cudaGraphLaunch", 30, 40, 1'000'000'000'000);  // ids far apart are found as well
  b.kernel("a", 50, 60, 5);
  b.kernel("b", 60, 70, 1'000'000'000'000);
  b.kernel("c", 70, 80, 1'000'000'000'000);
  b.kernel("d", 80, 90, 6);
  b.kernel("e", 90, 99);
  const trace::Trace& trace = b.build();
  std::vector<std::string> names;
  for (const int32_t call : launching_calls(trace)) names.push_back(name_at(trace, call));
  EXPECT_THAT(names, ElementsAre("cudaLaunchKernel", "cudaGraphLaunch", "cudaGraphLaunch", "-", "-"));
}

TEST(Joins, OperatorsByIdElseByNesting) {
  TraceBuilder b;
  b.op("outer", 0, 100, 1);
  b.op("inner", 10, 50, 2);
  b.api("by nesting", 20, 30);
  b.api("by id", 31, 40).external_id = 1;
  b.api("id of nobody", 41, 50).external_id = 77;  // ends with the inner one
  b.api("after the inner", 50, 60);
  b.api("Kineto's zero", 200, 210).external_id = 0;
  b.on_thread(2).api("another thread", 20, 30);
  const trace::Trace& trace = b.build();
  const HostIndices operators = calling_operators(trace, enclosing_events(trace, is_operator));
  std::map<std::string, std::string> found;
  for (size_t i = 0; i < operators.size(); ++i)
    found[trace.text(trace.host_events[i].name)] = name_at(trace, operators[i]);
  EXPECT_EQ(found["by nesting"], "inner");
  EXPECT_EQ(found["by id"], "outer");
  EXPECT_EQ(found["id of nobody"], "inner");
  EXPECT_EQ(found["after the inner"], "outer");
  EXPECT_EQ(found["Kineto's zero"], "-");
  EXPECT_EQ(found["another thread"], "-");
}

TEST(Joins, CrossingEventsBelongToTheOneTheyStartIn) {
  TraceBuilder b;
  b.op("first", 0, 100);
  b.op("crosses", 90, 120);
  b.op("later", 110, 115);
  const trace::Trace& trace = b.build();
  const HostIndices around = enclosing_events(trace, is_operator);
  EXPECT_THAT(around, ElementsAre(-1, 0, 1));
}

}  // namespace
}  // namespace hone::analysis
