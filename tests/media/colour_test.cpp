// Frames to red, green and blue and back, resizing, turning and drawing.
#include <gtest/gtest.h>

#include "media/draw.hpp"
#include "media/planar.hpp"

namespace hone::media {
namespace {

WritableFrame blank(PixelFormat format, int64_t width, int64_t height) {
  Frame frame;
  frame.format = format;
  return blank_like(frame, width, height);
}

TEST(Colour, EveryMatrixAndRangeGivesTheColourBack) {
  for (const ColourMatrix matrix : {ColourMatrix::kBt601, ColourMatrix::kBt709, ColourMatrix::kBt2020,
                                    ColourMatrix::kSmpte240, ColourMatrix::kFcc, ColourMatrix::kYcgco}) {
    for (const bool full : {false, true}) {
      for (const PixelFormat format : {PixelFormat::kYuv420, PixelFormat::kYuv422, PixelFormat::kYuv444}) {
        WritableFrame frame = blank(format, 7, 5);
        frame.frame.matrix = matrix;
        frame.frame.full_range = full;
        for (const Rgb colour : {Rgb{200, 40, 40}, Rgb{40, 180, 60}, Rgb{255, 255, 255}, Rgb{0, 0, 0}}) {
          fill_rectangle(&frame, 0, 0, 7, 5, colour);
          const PlanarImage image = to_rgb(frame.frame);
          for (size_t c = 0; c < 3; ++c)
            EXPECT_NEAR(image.planes[c].back(), colour[c], 3) << static_cast<int>(matrix) << full;
        }
      }
    }
  }
}

TEST(Colour, KnownValuesOfBt709InLimitedRange) {
  WritableFrame frame = blank(PixelFormat::kYuv444, 1, 1);
  frame.frame.matrix = ColourMatrix::kBt709;
  frame.frame.full_range = false;
  // Red: Y = 16 + 219 * 0.2126, V = 128 + 112.
  frame.data[0][0] = 63;
  frame.data[1][0] = 102;
  frame.data[2][0] = 240;
  const PlanarImage image = to_rgb(frame.frame);
  EXPECT_NEAR(image.planes[0][0], 255, 1);
  EXPECT_NEAR(image.planes[1][0], 0, 1);
  EXPECT_NEAR(image.planes[2][0], 0, 1);
}

TEST(Resize, ReadsBetweenPixelCentres) {
  const std::vector<uint8_t> row{0, 100, 200, 40};
  std::vector<uint8_t> twice(8);
  resize_plane(row.data(), 4, 1, twice.data(), 8, 1, 8);
  EXPECT_EQ(twice, (std::vector<uint8_t>{0, 25, 75, 125, 175, 160, 80, 40}));
  std::vector<uint8_t> half(2);
  resize_plane(row.data(), 4, 1, half.data(), 2, 1, 2);
  EXPECT_EQ(half, (std::vector<uint8_t>{50, 120}));
}

TEST(Resize, KeepsTheCentresOfCornersIfAsked) {
  const std::vector<uint8_t> row{0, 100, 200, 40};
  std::vector<uint8_t> seven(7);
  resize_plane(row.data(), 4, 1, seven.data(), 7, 1, 7, ResizeGrid::kAlignCorners);
  EXPECT_EQ(seven, (std::vector<uint8_t>{0, 50, 100, 150, 200, 120, 40}));
  std::vector<uint8_t> one(1);
  resize_plane(row.data(), 4, 1, one.data(), 1, 1, 1, ResizeGrid::kAlignCorners);
  EXPECT_EQ(one.front(), 0);
}

TEST(Resize, InOnePassWithTheColoursGivesTheSame) {
  for (const PixelFormat format : {PixelFormat::kRgb24, PixelFormat::kGray, PixelFormat::kYuv420,
                                   PixelFormat::kYuv422, PixelFormat::kYuv444}) {
    WritableFrame frame = blank(format, 61, 35);
    frame.frame.full_range = false;
    unsigned number = 1;
    for (int64_t p = 0; p < plane_count(format); ++p) {
      const int64_t bytes = frame.frame.planes[static_cast<size_t>(p)].stride * plane_height(frame.frame, p);
      for (int64_t i = 0; i < bytes; ++i) {
        number = number * 1664525 + 1013904223;
        frame.data[static_cast<size_t>(p)][i] = static_cast<uint8_t>(number >> 24);
      }
    }
    const PlanarImage image = to_rgb(frame.frame);
    for (const auto& [width, height] : {std::pair<int64_t, int64_t>{61, 35}, {20, 70}, {97, 11}, {1, 1}}) {
      std::vector<uint8_t> wanted(static_cast<size_t>(width * height));
      std::array<std::vector<uint8_t>, 3> found;
      resize_to_rgb(frame.frame, width, height, ResizeGrid::kHalfPixel,
                    [&](int64_t y, const std::array<uint8_t*, 3>& row) {
                      EXPECT_EQ(static_cast<int64_t>(found[0].size()), y * width);
                      for (size_t c = 0; c < 3; ++c) found[c].insert(found[c].end(), row[c], row[c] + width);
                    });
      for (size_t c = 0; c < 3; ++c) {
        resize_plane(image.planes[c].data(), 61, 35, wanted.data(), width, height, width);
        EXPECT_EQ(found[c], wanted) << "colour " << c << " in " << width << " x " << height;
      }
    }
  }
}

TEST(Frame, FourQuarterTurnsAreNone) {
  for (const PixelFormat format : {PixelFormat::kRgb24, PixelFormat::kYuv420, PixelFormat::kGray}) {
    WritableFrame frame = blank(format, 5, 3);
    fill_rectangle(&frame, 0, 0, 5, 3, {10, 10, 10});
    fill_rectangle(&frame, 0, 0, 2, 2, {250, 250, 250});
    const Frame once = turned(frame.frame, 90);
    EXPECT_EQ(once.width, 3);
    const PlanarImage turned_once = to_rgb(once);
    EXPECT_GT(turned_once.planes[1][2], 100) << "the upper left comes to the upper right";
    EXPECT_LT(turned_once.planes[1][0], 100);
    const Frame back = turned(turned(once, 180), 90);
    EXPECT_EQ(to_rgb(back).planes[0], to_rgb(frame.frame).planes[0]);
    EXPECT_EQ(to_rgb(mirrored(mirrored(frame.frame))).planes[0], to_rgb(frame.frame).planes[0]);
  }
}

TEST(Draw, WhatIsOutsideOfTheFrameIsLeftOut) {
  WritableFrame frame = blank(PixelFormat::kYuv420, 9, 7);
  fill_rectangle(&frame, 0, 0, 9, 7, {0, 0, 0});
  draw_rectangle(&frame, -100, -100, 1000, 1000, 2, {255, 255, 255});
  draw_text(&frame, -3, -3, "Wide text ~ \xc3\xa9", 5, {255, 255, 255});
  draw_rectangle(&frame, 6, 6, 2, 2, 2, {255, 0, 0});
  EXPECT_EQ(frame.frame.width, 9);
}

}  // namespace
}  // namespace hone::media
