// Ranges of shapes from the few that somebody names.
#include "engine/complete_profiles.hpp"

#include "engine/example_shapes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/graph_builder.hpp"

namespace hone::engine {

void PrintTo(const ShapeProfile& profile, std::ostream* out) {
  *out << testing::PrintToString(profile.min) << testing::PrintToString(profile.opt)
       << testing::PrintToString(profile.max);
}

bool operator==(const ShapeProfile& a, const ShapeProfile& b) {
  return a.min == b.min && a.opt == b.opt && a.max == b.max;
}

namespace {

using graph::Dim;
using Profiles = std::map<std::string, ShapeProfile>;

/// Two inputs, x [n, 3, h] and y [n, 8].
graph::Graph two_inputs() {
  test::GraphBuilder b;
  const auto x = b.input("x", {Dim::symbol("n"), 3, Dim::symbol("h")});
  const auto y = b.input("y", {Dim::symbol("n"), 8});
  return b.finish({b.node("Relu", {x}), b.node("Relu", {y})});
}

std::string usage_error(const Profiles& named, OpenDims open) {
  try {
    complete_profiles(two_inputs(), named, open);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage) << error.what();
    return error.what();
  }
  return "";
}

TEST(CompleteProfiles, OptFollowsFromMaxThenMin) {
  const ShapeProfile expected = {{1, 3, 4}, {2, 3, 8}, {2, 3, 8}};
  const Profiles found =
      complete_profiles(two_inputs(), {{"x", {{1, 3, 4}, {}, {2, 3, 8}}}}, OpenDims::kAsTuned);
  EXPECT_EQ(found.at("x"), expected);
  const Shape one = {1, 3, 4};
  EXPECT_EQ(complete_profiles(two_inputs(), {{"x", {one, {}, {}}}}, OpenDims::kAsTuned).at("x"),
            (ShapeProfile{one, one, one}));
}

TEST(CompleteProfiles, BoundsThatNobodyNamesAreAsTunedOrEverySize) {
  const Profiles named = {{"x", {{}, {2, 3, 8}, {}}}};
  EXPECT_EQ(complete_profiles(two_inputs(), named, OpenDims::kAsTuned).at("x"),
            (ShapeProfile{{2, 3, 8}, {2, 3, 8}, {2, 3, 8}}));
  EXPECT_EQ(complete_profiles(two_inputs(), named, OpenDims::kAnySize).at("x"),
            (ShapeProfile{{0, 3, 0}, {2, 3, 8}, {kAnySize, 3, kAnySize}}));
}

TEST(CompleteProfiles, SymbolsCarryWhatAnotherInputNames) {
  const Profiles named = {{"x", {{1, 3, 4}, {2, 3, 4}, {8, 3, 4}}}};
  EXPECT_EQ(complete_profiles(two_inputs(), named, OpenDims::kAsTuned).at("y"),
            (ShapeProfile{{1, 8}, {2, 8}, {8, 8}}));
  EXPECT_EQ(complete_profiles(two_inputs(), named, OpenDims::kAnySize).at("y"),
            (ShapeProfile{{0, 8}, {2, 8}, {kAnySize, 8}}));
}

TEST(CompleteProfiles, WithoutNamesABatchOfOne) {
  const Profiles named = {{"x", {{}, {1, 3, 4}, {}}}};
  EXPECT_EQ(complete_profiles(two_inputs(), {}, OpenDims::kAnySize, 5).at("x"),
            (ShapeProfile{{0, 3, 0}, {5, 3, 5}, {kAnySize, 3, kAnySize}}));
  EXPECT_EQ(usage_error({}, OpenDims::kAsTuned),
            "dimension 2 ('h') of input 'x' is open: give --optShapes x:1x3x128 (for a range --minShapes and "
            "--maxShapes)");
  test::GraphBuilder b;
  const graph::Graph batch = b.finish({b.node("Relu", {b.input("x", {Dim::symbol("n"), 8})})});
  EXPECT_EQ(complete_profiles(batch, {}, OpenDims::kAsTuned).at("x"), (ShapeProfile{{1, 8}, {1, 8}, {1, 8}}));
}

TEST(CompleteProfiles, TheExampleNamesEveryInputThatIsNeeded) {
  test::GraphBuilder b;
  const auto ids = b.input("ids", {Dim::symbol("batch"), Dim::symbol("seq")});
  const auto mask = b.input("mask", {Dim::symbol("batch"), Dim::symbol("seq")});
  const auto sum = b.node("Add", {ids, mask});
  const auto image =
      b.node("Relu", {b.input("image", {Dim::symbol("batch"), 3, Dim::symbol("h"), Dim::symbol("w")})});
  const graph::Graph graph = b.finish({sum, image});
  EXPECT_EQ(example_shapes(graph, {}), "ids:1x128 image:1x3x224x224");
  EXPECT_EQ(example_shapes(graph, {{"seq", 16}, {"w", 64}}), "image:1x3x224x64");
  EXPECT_EQ(example_shapes(graph, {{"seq", 16}, {"h", 8}, {"w", 8}}), "");
}

TEST(CompleteProfiles, WhatDoesNotFitTheModelIsAUsageError) {
  const Shape image = {1, 3, 4};
  for (const OpenDims open : {OpenDims::kAsTuned, OpenDims::kAnySize}) {
    EXPECT_EQ(usage_error({{"z", {image, image, image}}}, open),
              "the model has no input named 'z', its inputs are x, y");
    EXPECT_EQ(usage_error({{"x", {{}, {1, 4, 4}, {}}}}, open),
              "shape range of input 'x': dimension 1 is 3 in the model, found 4 to 4");
    EXPECT_EQ(usage_error({{"x", {{2, 3, 4}, image, {}}}}, open).substr(0, 50),
              "shape range of input 'x': dimension 0 must hold mi");
    EXPECT_EQ(usage_error({{"x", {{}, {1, 3}, {}}}}, open).substr(0, 37),
              "shape range of input 'x': rank 2 for ");
    EXPECT_NE(usage_error({{"x", {{}, image, {}}}, {"y", {{}, {2, 8}, {}}}}, open), "");
  }
}

}  // namespace
}  // namespace hone::engine
