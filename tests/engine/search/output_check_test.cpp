// The search chooses the right outputs when some of its programs are wrong.
#include "engine/search/output_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>

namespace hone::engine {
namespace {

using tensor::DType;
using tensor::Tensor;

Outputs outputs(float value) {
  Tensor tensor(DType::kFloat32, {2});
  const std::array<float, 2> values = {1, value};
  std::memcpy(tensor.mutable_bytes(), values.data(), sizeof values);
  return {tensor};
}

const float kNan = std::numeric_limits<float>::quiet_NaN();

/// `decided`: what the reference computes.
OutputCheck check_of(const std::vector<Outputs>& all, const Outputs& decided = {}) {
  OutputCheck check(tensor::Precision::kFp32, {}, true);
  std::vector<Ballot> ballots;
  for (const Outputs& outputs : all) check.vote(outputs, ballots);
  check.expect(ballots, [&] {
    EXPECT_FALSE(decided.empty()) << "the reference is asked where two agree";
    return decided;
  });
  return check;
}

TEST(OutputCheck, TakesTheFirstWhenMostAgreeWithIt) {
  const OutputCheck check = check_of({outputs(2), outputs(2), outputs(7), outputs(2)});
  EXPECT_TRUE(check.agrees(outputs(2)));
  EXPECT_FALSE(check.agrees(outputs(7)));
}

TEST(OutputCheck, TakesWhatMostComputeWhenTheFirstIsWrong) {
  const OutputCheck check = check_of({outputs(7), outputs(2), outputs(2), outputs(2)});
  EXPECT_TRUE(check.agrees(outputs(2)));
  EXPECT_FALSE(check.agrees(outputs(7)));
}

TEST(OutputCheck, FindsTheRightOnesAmongManyThatAreWrongInTheirOwnWays) {
  // Every program takes one candidate of every step, so a few wrong candidates spoil most programs.
  const OutputCheck check =
      check_of({outputs(2), outputs(7), outputs(8), outputs(9), outputs(2), outputs(10)});
  EXPECT_TRUE(check.agrees(outputs(2)));
  EXPECT_FALSE(check.agrees(outputs(7)));
}

TEST(OutputCheck, KeepsOutputsThatAgreeOnce) {
  const OutputCheck check(tensor::Precision::kFp32, {}, true);
  std::vector<Ballot> ballots;
  EXPECT_EQ(check.vote(outputs(2), ballots), 0u);
  EXPECT_EQ(check.vote(outputs(7), ballots), 1u);
  EXPECT_EQ(check.vote(outputs(2), ballots), 0u);
  EXPECT_EQ(check.vote(outputs(kNan), ballots), 2u);
  EXPECT_EQ(check.vote(outputs(kNan), ballots), 2u);
  ASSERT_EQ(ballots.size(), 3u);
  EXPECT_EQ(ballots[0].votes, 2u);
}

/// Places of largest values, as of a network that ends in an ArgMax; `wrong` of them are others.
Outputs places(int64_t count, int64_t wrong) {
  Tensor tensor(DType::kInt64, {count});
  std::vector<int64_t> values(static_cast<size_t>(count), 3);
  std::fill_n(values.begin(), wrong, 8);
  std::memcpy(tensor.mutable_bytes(), values.data(), tensor.byte_size());
  return {tensor};
}

TEST(OutputCheck, ComparesIntegersButForWhatRoundingMayMove) {
  const OutputCheck check = check_of({places(100, 0), places(100, 0)});
  EXPECT_TRUE(check.agrees(places(100, 14)));
  EXPECT_FALSE(check.agrees(places(100, 15)));
  EXPECT_TRUE(check_of({places(1, 0), places(1, 0)}).agrees(places(1, 1))) << "too few to tell";
}

TEST(OutputCheck, LetsRanksChangePlacesAndRoundedOutputsDecide) {
  Outputs ranks = places(100, 0);
  std::iota(ranks[0].mutable_values<int64_t>().begin(), ranks[0].mutable_values<int64_t>().end(), 0);
  Outputs turned = places(100, 0);
  for (int64_t i = 0; i < 100; ++i) turned[0].mutable_values<int64_t>()[static_cast<size_t>(i)] = 99 - i;
  EXPECT_TRUE(check_of({ranks, ranks}).agrees(turned));
  EXPECT_FALSE(check_of({ranks, ranks}).agrees(places(100, 0)));
  const auto with_values = [](Outputs whole, float value) {
    whole.push_back(outputs(value)[0]);
    return whole;
  };
  EXPECT_TRUE(
      check_of({with_values(ranks, 2), with_values(ranks, 2)}).agrees(with_values(places(100, 0), 2)));
  EXPECT_FALSE(check_of({with_values(ranks, 2), with_values(ranks, 2)}).agrees(with_values(ranks, 7)));
}

TEST(OutputCheck, AsksTheReferenceWhereNoTwoAgree) {
  const OutputCheck second = check_of({outputs(7), outputs(2)}, outputs(2));
  EXPECT_TRUE(second.agrees(outputs(2)));
  EXPECT_FALSE(second.agrees(outputs(7)));
  const OutputCheck neither = check_of({outputs(7), outputs(8), outputs(9)}, outputs(2));
  EXPECT_TRUE(neither.agrees(outputs(7))) << "the first one, when even the reference is of no help";
}

TEST(OutputCheck, IsNotSwitchedOffByOneProgramThatIsNotFinite) {
  const OutputCheck check =
      check_of({outputs(7), outputs(kNan), outputs(kNan), outputs(kNan), outputs(2), outputs(2)});
  EXPECT_TRUE(check.agrees(outputs(2)));
  EXPECT_FALSE(check.agrees(outputs(7)));
  EXPECT_FALSE(check.agrees(outputs(kNan)));
}

TEST(OutputCheck, TakesANetworkThatIsNeverFiniteAsItIs) {
  const OutputCheck check = check_of({outputs(kNan), outputs(kNan)});
  EXPECT_TRUE(check.agrees(outputs(kNan)));
  EXPECT_FALSE(check.agrees(outputs(3)));
}

}  // namespace
}  // namespace hone::engine
