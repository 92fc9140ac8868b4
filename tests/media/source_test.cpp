// Which images an input names, and in which order; videos written and read through the plugin.
#include "media/source.hpp"

#include <dlfcn.h>
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

/// A GPU without a driver behind it.
class NoGpu final : public DecodingDevice {
 public:
  std::string_view name() const override { return "nowhere"; }
  void* context() const override { return nullptr; }
  void* stream() const override { return nullptr; }
  std::shared_ptr<const std::byte> copy(std::span<const std::span<const std::byte>>) override {
    return nullptr;
  }
};

/// Levels of all frames, and where they were decoded.
std::pair<std::vector<int>, std::string> read_on_gpu(const std::string& file) {
  const auto source = open_video(file, {});
  EXPECT_EQ(source->decoding(), "on the CPU");
  source->decode_on(std::make_shared<NoGpu>());
  std::vector<int> levels;
  for (Frame frame; source->next(&frame);) {
    EXPECT_FALSE(frame.on_device);
    levels.push_back(to_rgb(frame).planes[0][100]);
  }
  return {levels, source->decoding()};
}

TEST_F(Videos, ComeFromTheCpuWhereNoGpuDecodesThem) {
  if (void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW); driver != nullptr) {
    ::dlclose(driver);
    GTEST_SKIP() << "SKIPPED: there is a driver, which takes no context of nobody's";
  }
  const auto write = [&](const char* name, const char* encoder) {
    WriteOptions options;
    options.encoder = encoder;
    options.frame_rate = {25, 1};
    options.time_base = {1, 25};
    const auto sink = create_video(file(name), options);
    for (int i = 0; i < 9; ++i) sink->write(grey(static_cast<uint8_t>(20 * i + 30), i / 25.0));
    sink->finish();
  };
  write("a.mp4", "libx264");
  const auto [levels, where] = read_on_gpu(file("a.mp4"));
  ASSERT_EQ(levels.size(), 9u);
  for (int i = 0; i < 9; ++i) EXPECT_NEAR(levels[static_cast<size_t>(i)], 20 * i + 30, 6);
  EXPECT_EQ(where.rfind("on the CPU: FFmpeg cannot use the driver: ", 0), 0u) << where;
  write("b.mkv", "ffv1");
  const auto [others, reason] = read_on_gpu(file("b.mkv"));
  EXPECT_EQ(others.size(), 9u);
  EXPECT_EQ(reason, "on the CPU: this FFmpeg does not decode ffv1 on GPUs");
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
