// Views of memory with as few dimensions as they need.
#include "device/cuda/plugin/kernels/layers/movement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::device::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(StridedView, OfDenseMemoryHasOneDimension) {
  const StridedView view = merged({{2, 3, 1, 4}, {12, 4, 7, 1}, 5});
  EXPECT_THAT(view.sizes, ElementsAre(24));
  EXPECT_THAT(view.strides, ElementsAre(1));
  EXPECT_EQ(view.offset, 5);
}

TEST(StridedView, KeepsNeighboursApartThatDoNotFollowEachOther) {
  const StridedView transposed = merged({{2, 4, 3, 5}, {60, 5, 20, 1}});
  EXPECT_THAT(transposed.sizes, ElementsAre(2, 4, 3, 5));
  EXPECT_THAT(transposed.strides, ElementsAre(60, 5, 20, 1));
  const StridedView joined = merged({{4, 5, 2, 3}, {5, 1, 60, 20}});
  EXPECT_THAT(joined.sizes, ElementsAre(20, 6));
  EXPECT_THAT(joined.strides, ElementsAre(1, 20));
}

TEST(StridedView, MergesRepeatedAndReversedElementsToo) {
  const StridedView repeated = merged({{3, 2, 5}, {0, 0, 1}});
  EXPECT_THAT(repeated.sizes, ElementsAre(6, 5));
  EXPECT_THAT(repeated.strides, ElementsAre(0, 1));
  const StridedView reversed = merged({{3, 4}, {-4, -1}, 11});
  EXPECT_THAT(reversed.sizes, ElementsAre(12));
  EXPECT_THAT(reversed.strides, ElementsAre(-1));
  EXPECT_EQ(reversed.offset, 11);
}

TEST(StridedView, MovesRunsThatLieTogetherAsWords) {
  // Channels of pixels that DepthToSpace moves: 2 x 2 of them, 24 channels each.
  const StridedView blocks{{5, 2, 5, 48}, {480, 48, 96, 1}, 32};
  size_t bytes = 2;
  const StridedView wide = widened(blocks, 0x7f00, &bytes);
  EXPECT_EQ(bytes, 16);
  EXPECT_THAT(wide.sizes, ElementsAre(5, 2, 5, 6));
  EXPECT_THAT(wide.strides, ElementsAre(60, 6, 12, 1));
  EXPECT_EQ(wide.offset, 4);
}

TEST(StridedView, MovesRunsAsWideAsTheyBegin) {
  const auto widest = [](const StridedView& view, uint64_t addresses) {
    size_t bytes = 2;
    widened(view, addresses, &bytes);
    return bytes;
  };
  EXPECT_EQ(widest({{3, 8}, {8, 1}, 0}, 0), 16);
  EXPECT_EQ(widest({{3, 8}, {8, 1}, 0}, 8), 8) << "of an address";
  EXPECT_EQ(widest({{3, 8}, {10, 1}, 0}, 0), 4) << "of rows";
  EXPECT_EQ(widest({{3, 8}, {-8, 1}, 20}, 0), 8) << "of the first element";
  EXPECT_EQ(widest({{3, 6}, {8, 1}, 0}, 0), 4) << "of runs";
  EXPECT_EQ(widest({{3, 8}, {8, 2}, 0}, 0), 2) << "elements that lie apart";
  EXPECT_EQ(widest({{3, 8}, {8, 0}, 0}, 0), 2) << "one element";
  EXPECT_EQ(widest({{}, {}, 0}, 0), 2);
}

TEST(StridedView, OfOneElementHasNoDimensions) { EXPECT_THAT(merged({{1, 1}, {3, 9}}).sizes, IsEmpty()); }

}  // namespace
}  // namespace hone::device::cuda
