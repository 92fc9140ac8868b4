// Which images an input names, and in which order; videos written and read through the plugin.
#include "media/source.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/plugin.hpp"
#include "hone/error.hpp"
#include "media/draw.hpp"
#include "media/planar.hpp"
#include "media/video.hpp"
#include "system/scratch.hpp"

namespace hone::media {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names(const std::vector<std::string>& paths) {
  std::vector<std::string> result;
  for (const std::string& path : paths) result.push_back(fs::path(path).filename().string());
  return result;
}

TEST(NaturalOrder, NumbersCountAsNumbers) {
  EXPECT_TRUE(natural_less("frame_9.png", "frame_10.png"));
  EXPECT_FALSE(natural_less("frame_10.png", "frame_9.png"));
  EXPECT_TRUE(natural_less("a01", "a2"));
  EXPECT_TRUE(natural_less("a1", "a01") != natural_less("a01", "a1")) << "an order, also of equal numbers";
  EXPECT_FALSE(natural_less("same", "same"));
  EXPECT_TRUE(natural_less("99999999999999999999998", "99999999999999999999999"));
}

TEST(ListImages, PatternsNameNumbers) {
  const system::Scratch folder;
  for (const char* name :
       {"f_007.png", "f_008.png", "f_1000.png", "f_09.png", "f_x.png", "g_001.png", "note.txt"})
    std::ofstream(folder.folder() / name) << "x";
  const std::string base = folder.folder().string() + "/";
  using Names = std::vector<std::string>;
  EXPECT_EQ(names(list_images(base + "f_%03d.png")), (Names{"f_007.png", "f_008.png", "f_1000.png"}));
  EXPECT_EQ(names(list_images(base + "g_%03d.png")), Names{"g_001.png"});
  EXPECT_EQ(list_images(base).size(), 6U);
  EXPECT_THROW(list_images(base + "h_%03d.png"), Error);
  EXPECT_THROW(list_images(base + "%d_%d.png"), Error);
  EXPECT_THROW(list_images(base + "%s.png"), Error);
}

class Videos : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(base::library_folder() + "/libhone-video.so"))
      GTEST_SKIP() << "SKIPPED: built without FFmpeg";
  }
  std::string file(const char* name) const { return (folder_.folder() / name).string(); }

  static Frame grey(uint8_t level, double seconds, int64_t width = 64, int64_t height = 48) {
    Frame like;
    like.format = PixelFormat::kYuv420;
    like.full_range = false;
    like.matrix = ColourMatrix::kBt709;
    like.pixel_aspect = {2, 1};
    WritableFrame frame = blank_like(like, width, height);
    fill_rectangle(&frame, 0, 0, width, height, {level, level, level});
    frame.frame.seconds = seconds;
    return frame.frame;
  }

 private:
  system::Scratch folder_;
};

TEST_F(Videos, UnevenTimesAndColoursAndShapesOfPixelsStay) {
  const std::vector<double> seconds{0, 0.04, 0.08, 0.52, 0.56, 1.633, 1.667, 1.7, 3.0};
  WriteOptions options;
  options.time_base = {1, 90000};
  options.frame_rate = {25, 1};
  options.crf = 8;
  const auto sink = create_video(file("uneven.mp4"), options);
  for (size_t i = 0; i < seconds.size(); ++i)
    sink->write(grey(static_cast<uint8_t>(20 * i + 30), seconds[i]));
  EXPECT_FALSE(fs::exists(file("uneven.mp4"))) << "it is whole, or not there";
  sink->finish();
  const auto source = open_video(file("uneven.mp4"), {});
  Frame frame;
  for (size_t i = 0; i < seconds.size(); ++i) {
    ASSERT_TRUE(source->next(&frame)) << i;
    EXPECT_NEAR(frame.seconds, seconds[i], 1e-3);
    EXPECT_NEAR(to_rgb(frame).planes[0][100], 20 * static_cast<int>(i) + 30, 3);
  }
  EXPECT_FALSE(source->next(&frame));
  EXPECT_EQ(frame.matrix, ColourMatrix::kBt709);
  EXPECT_FALSE(frame.full_range);
  EXPECT_EQ(frame.pixel_aspect.num, 2 * frame.pixel_aspect.den);
}

TEST_F(Videos, WhatIsNotFinishedLeavesNothing) {
  {
    const auto sink = create_video(file("begun.mp4"), {});
    sink->write(grey(100, 0));
  }
  EXPECT_TRUE(fs::is_empty(fs::path(file("begun.mp4")).parent_path()));
}

}  // namespace
}  // namespace hone::media
