// The rule of the kernel that fills networks' inputs, run on the host: the same numbers as the CPU's path, to
// the bit.
#include <gtest/gtest.h>

#include <random>

#include "device/cuda/plugin/kernels/image/frame_input.hpp"
#include "import/image/preprocess.hpp"
#include "media/planar.hpp"
#include "task/preprocess.hpp"

namespace hone::device::cuda {
namespace {

using media::ColourMatrix;
using media::PixelFormat;

media::Frame noise(PixelFormat format, int64_t width, int64_t height) {
  media::Frame like;
  like.format = format;
  like.width = width;
  like.height = height;
  media::WritableFrame frame = media::blank_like(like, width, height);
  std::mt19937 generator(7);
  for (int64_t plane = 0; plane < media::plane_count(format); ++plane) {
    const int64_t samples = media::plane_width(frame.frame, plane) * (format == PixelFormat::kRgb24 ? 3 : 1);
    for (int64_t y = 0; y < media::plane_height(frame.frame, plane); ++y)
      for (int64_t x = 0; x < samples; ++x)
        frame
            .data[static_cast<size_t>(plane)][y * frame.frame.planes[static_cast<size_t>(plane)].stride + x] =
            static_cast<uint8_t>(generator() >> 20);
  }
  return frame.frame;
}

std::vector<FrameTap> taps_of(int64_t from, int64_t to) {
  std::vector<FrameTap> taps;
  for (const media::ResizeTap& tap : media::resize_taps(from, to, media::ResizeGrid::kHalfPixel))
    taps.push_back({static_cast<int32_t>(tap.first), static_cast<int32_t>(tap.second), tap.weight});
  return taps;
}

/// All that the kernel reads, in memory of the host.
struct Call {
  std::vector<FrameTap> columns;
  std::vector<FrameTap> rows;
  std::vector<float> levels;
  std::vector<uint8_t> chroma;
  FrameInput input;

  Call(const media::Frame& frame, const task::Geometry& g, const task::Preprocessor& preprocessor,
       bool as_nv12)
      : columns(taps_of(frame.width, g.width)), rows(taps_of(frame.height, g.height)) {
    for (size_t i = 0; i < 3; ++i) {
      input.planes[i] = frame.planes[i].data;
      input.strides[i] = frame.planes[i].stride;
      const task::ChannelRule rule = preprocessor.rule_of(i);
      levels.insert(levels.end(), rule.levels.begin(), rule.levels.end());
      input.colour[i] = static_cast<int32_t>(rule.colour);
      input.margin[i] = rule.margin;
    }
    input.format = frame.format == PixelFormat::kRgb24 ? FrameFormat::kRgb24
                   : as_nv12                           ? FrameFormat::kNv12
                                                       : FrameFormat::kYuv420;
    if (as_nv12) interleave(frame);
    const media::RgbCoefficients by = media::rgb_coefficients(frame);
    input.colours.luma_offset = by.luma_offset;
    input.colours.luma = by.luma;
    std::copy(by.u.begin(), by.u.end(), input.colours.u);
    std::copy(by.v.begin(), by.v.end(), input.colours.v);
    input.left = static_cast<int32_t>(g.left);
    input.top = static_cast<int32_t>(g.top);
    input.width = static_cast<int32_t>(g.width);
    input.height = static_cast<int32_t>(g.height);
    input.columns.taps = columns.data();
    input.rows.taps = rows.data();
    input.input_width = static_cast<int32_t>(g.input_width);
    input.input_height = static_cast<int32_t>(g.input_height);
    input.levels = levels.data();
  }

  void interleave(const media::Frame& frame) {
    const int64_t width = media::plane_width(frame, 1);
    for (int64_t y = 0; y < media::plane_height(frame, 1); ++y)
      for (int64_t x = 0; x < width; ++x)
        for (const size_t plane : {1, 2})
          chroma.push_back(frame.planes[plane].data[y * frame.planes[plane].stride + x]);
    input.planes[1] = chroma.data();
    input.strides[1] = 2 * width;
  }

  template <bool windows = false>
  void values_at(int32_t x, int32_t y, float (&values)[3]) const {
    switch (input.format) {
      case FrameFormat::kRgb24: return frame::values_at<FrameFormat::kRgb24, windows>(input, x, y, values);
      case FrameFormat::kYuv420: return frame::values_at<FrameFormat::kYuv420, windows>(input, x, y, values);
      default: return frame::values_at<FrameFormat::kNv12, windows>(input, x, y, values);
    }
  }
};

void expect_equal(const media::Frame& frame, task::Fit fit, bool bgr, bool as_nv12) {
  task::ImageInput input;
  input.width = 64;
  input.height = 48;
  const task::Preprocessor preprocessor(input, {fit, 114, bgr, 1.0f / 255, true}, {}, {});
  const task::Geometry g = preprocessor.place(frame.width, frame.height);
  std::vector<float> wanted(static_cast<size_t>(3 * input.width * input.height));
  preprocessor.fill(frame, g, wanted.data());
  const Call call(frame, g, preprocessor, as_nv12);
  for (int32_t y = 0; y < input.height; ++y)
    for (int32_t x = 0; x < input.width; ++x) {
      float values[3];
      call.values_at(x, y, values);
      for (int32_t c = 0; c < 3; ++c)
        ASSERT_EQ(values[c], wanted[static_cast<size_t>((c * input.height + y) * input.width + x)])
            << "channel " << c << " at " << x << ", " << y << " of " << frame.width << " x " << frame.height;
    }
}

/// The middle of an antialiased image, as classifiers take it.
void expect_equal_antialiased(const media::Frame& frame, bool as_nv12) {
  constexpr int64_t kSide = 24;
  const int64_t width = kSide + 9;
  const int64_t height = kSide + 2;
  const importer::Image wanted =
      importer::resize_image(media::interleaved(media::to_rgb(frame)), width, height);
  task::ImageInput input;
  input.width = input.height = kSide;
  const task::Preprocessor preprocessor(input, {task::Fit::kStretch, 0, false, 1, false}, {}, {});
  Call call(frame, preprocessor.place(frame.width, frame.height), preprocessor, as_nv12);
  const task::FrameForm form = task::antialiased_form(frame, {width, 5, kSide}, {height, 1, kSide}, 0, 0);
  call.input.columns = {nullptr, form.columns.windows.data(), form.columns.weights.data()};
  call.input.rows = {nullptr, form.rows.windows.data(), form.rows.weights.data()};
  for (int32_t y = 0; y < kSide; ++y)
    for (int32_t x = 0; x < kSide; ++x) {
      float values[3];
      call.values_at<true>(x, y, values);
      for (int64_t c = 0; c < 3; ++c)
        ASSERT_EQ(values[c], wanted.pixels[static_cast<size_t>(((y + 1) * width + x + 5) * 3 + c)])
            << "channel " << c << " at " << x << ", " << y << " of " << frame.width << " x " << frame.height;
    }
}

TEST(FrameInput, AntialiasesAsTheProcessorDoes) {
  for (const auto& [width, height] : {std::pair{97, 155}, {33, 26}, {7, 200}, {1, 1}}) {
    expect_equal_antialiased(noise(PixelFormat::kRgb24, width, height), false);
    for (const bool as_nv12 : {false, true})
      expect_equal_antialiased(noise(PixelFormat::kYuv420, width, height), as_nv12);
  }
}

TEST(FrameInput, GivesWhatTheProcessorGives) {
  for (const auto& [width, height] : {std::pair{97, 55}, {64, 48}, {33, 17}, {1, 1}, {200, 300}}) {
    for (const task::Fit fit :
         {task::Fit::kStretch, task::Fit::kLetterbox, task::Fit::kCorner, task::Fit::kDarknet}) {
      for (const bool bgr : {false, true}) {
        expect_equal(noise(PixelFormat::kRgb24, width, height), fit, bgr, false);
        for (const bool as_nv12 : {false, true}) {
          media::Frame frame = noise(PixelFormat::kYuv420, width, height);
          for (const ColourMatrix matrix :
               {ColourMatrix::kBt601, ColourMatrix::kBt709, ColourMatrix::kBt2020, ColourMatrix::kYcgco}) {
            frame.matrix = matrix;
            frame.full_range = bgr;
            expect_equal(frame, fit, bgr, as_nv12);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace hone::device::cuda
