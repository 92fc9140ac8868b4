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

TEST(StridedView, OfOneElementHasNoDimensions) { EXPECT_THAT(merged({{1, 1}, {3, 9}}).sizes, IsEmpty()); }

}  // namespace
}  // namespace hone::device::cuda
