// Transpositions between layouts that are the same bytes.
#include "engine/transposition.hpp"

#include <gtest/gtest.h>

namespace hone::engine {
namespace {

using Order = std::vector<int64_t>;

std::string layouts(const Shape& shape, const Order& order, Layout wanted = Layout::kPlain) {
  const auto found = same_bytes_transposed(shape, order, wanted);
  if (!found) return "none";
  return std::string(layout_name(found->input)) + " to " + std::string(layout_name(found->result));
}

TEST(Transposition, OfAnImageToItsPixelsMovesNothingWithChannelsLast) {
  EXPECT_EQ(layouts({2, 3, 4, 5}, {0, 2, 3, 1}), "channels_last to plain");
  EXPECT_EQ(layouts({2, 4, 5, 3}, {0, 3, 1, 2}), "plain to channels_last");
  EXPECT_EQ(layouts({2, 3, 4, 5, 6}, {0, 2, 3, 4, 1}), "channels_last to plain");
}

TEST(Transposition, OfDimensionsOfOneMovesNothing) {
  EXPECT_EQ(layouts({1, 197, 1, 64}, {1, 0, 2, 3}), "plain to plain");
  EXPECT_EQ(layouts({7, 1}, {1, 0}), "plain to plain");
  EXPECT_EQ(layouts({2, 3, 1, 1}, {0, 2, 3, 1}, Layout::kChannelsLast), "channels_last to plain");
}

TEST(Transposition, OfOtherOrdersMovesElements) {
  EXPECT_EQ(layouts({2, 3, 4, 5}, {0, 2, 1, 3}), "none");
  EXPECT_EQ(layouts({3, 4}, {1, 0}), "none");
  EXPECT_EQ(layouts({2, 3, 4}, {0, 2, 1}), "none") << "rows have no channels-last layout";
}

TEST(Transposition, WithoutAnOrderReversesTheDimensions) {
  EXPECT_EQ(transposition_of({}, 3), (Order{2, 1, 0}));
  EXPECT_EQ(transposition_of({1, 0}, 2), (Order{1, 0}));
}

}  // namespace
}  // namespace hone::engine
