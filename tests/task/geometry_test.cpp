// Where images lie in a network's input, and the way back.
#include "task/geometry.hpp"

#include <gtest/gtest.h>

namespace hone::task {
namespace {

TEST(Geometry, LetterboxRoundsAsUltralyticsDoes) {
  const Geometry g = place_image(Fit::kLetterbox, 100, 60, 64, 64);
  EXPECT_EQ(g.width, 64);
  EXPECT_EQ(g.height, 38);  // 38.4
  EXPECT_EQ(g.top, 13);
  EXPECT_EQ(g.left, 0);
  // The way back takes the factor before rounding.
  EXPECT_NEAR(engine::box::placed(box_place(g), {0, 13, 64, 51}).y2, 38 / 0.64, 1e-4);
  // An odd margin: the larger half is below.
  EXPECT_EQ(place_image(Fit::kLetterbox, 100, 61, 64, 64).height, 39);
  EXPECT_EQ(place_image(Fit::kLetterbox, 100, 61, 64, 64).top, 12);
}

TEST(Geometry, CornerCutsToWholePixels) {
  const Geometry g = place_image(Fit::kCorner, 100, 78, 64, 64);
  EXPECT_EQ(g.height, 49);  // 49.92
  EXPECT_EQ(g.top, 0);
  EXPECT_FLOAT_EQ(engine::box::placed(box_place(g), {0, 0, 64, 32}).y2, 50);
}

TEST(Geometry, DarknetsMarginIsHalfAPixelOffOnTheWayBack) {
  const Geometry g = place_image(Fit::kDarknet, 48, 31, 48, 48);
  EXPECT_EQ(g.height, 31);
  EXPECT_EQ(g.top, 8);
  EXPECT_FLOAT_EQ(engine::box::placed(box_place(g), {0, 8.5f, 48, 39.5f}).y1, 0);
  EXPECT_FLOAT_EQ(engine::box::placed(box_place(g), {0, 8.5f, 48, 39.5f}).y2, 31);
}

TEST(Geometry, NoSideIsEmptyHoweverLongAnImageIs) {
  for (const Fit fit : {Fit::kStretch, Fit::kLetterbox, Fit::kCorner, Fit::kDarknet}) {
    const Geometry g = place_image(fit, 10000, 1, 32, 32);
    EXPECT_GE(g.height, 1) << fit_name(fit);
    EXPECT_LE(g.top + g.height, 32) << fit_name(fit);
  }
}

TEST(Geometry, BoxesEndWhereTheImageDoes) {
  const Geometry g = place_image(Fit::kStretch, 10, 20, 10, 20);
  const Box box = engine::box::clipped(box_place(g), {-5, 3, 12, 30});
  EXPECT_EQ(box.x1, 0);
  EXPECT_EQ(box.x2, 10);
  EXPECT_EQ(box.y2, 20);
}

}  // namespace
}  // namespace hone::task
