// Images as inputs: the structure check, resizing, cropping, normalization, metadata.
#include "import/image/image.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <numeric>
#include <string>

#include "import/image/preprocess.hpp"

namespace hone::importer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string big_endian(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

std::string chunk(const std::string& type, const std::string& data) {
  const std::string covered = type + data;
  const auto sum = crc32_z(0, reinterpret_cast<const Bytef*>(covered.data()), covered.size());
  return big_endian(static_cast<uint32_t>(data.size())) + covered + big_endian(static_cast<uint32_t>(sum));
}

std::string png(uint32_t width, uint32_t height) {
  const std::string header = big_endian(width) + big_endian(height) + std::string("\x08\x02\0\0\0", 5);
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("IDAT", "pixels") + chunk("IEND", "");
}

/// A frame header and a scan with an escaped 0xff and a restart marker in its data.
const std::string kJpeg = std::string(
    "\xff\xd8\xff\xe0\0\4ab\xff\xc0\0\x0b\x08\0\x05\0\x07\1\1\x11\0\xff\xda\0\3\1"
    "data\xff\0\xff\xd0"
    "more\xff\xd9",
    40);

ImageSize inspect(const std::string& file) { return inspect_image(std::as_bytes(std::span(file))); }

std::string inspect_error(const std::string& file) {
  try {
    inspect(file);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return {};
}

TEST(InspectImage, FindsTheSize) {
  EXPECT_EQ(inspect(png(640, 480)).width, 640);
  EXPECT_EQ(inspect(png(640, 480)).height, 480);
  EXPECT_EQ(inspect(kJpeg).width, 7);
  EXPECT_EQ(inspect(kJpeg).height, 5);
}

TEST(InspectImage, RefusesEveryTruncation) {
  for (const std::string& file : {png(2, 2), kJpeg}) {
    for (size_t size = 0; size < file.size(); ++size) inspect_error(file.substr(0, size));
  }
}

TEST(InspectImage, RefusesFlippedBytesOfPng) {
  const std::string file = png(2, 2);
  for (size_t at = 0; at < file.size(); ++at) {
    std::string flipped = file;
    flipped[at] = static_cast<char>(flipped[at] ^ 0xff);
    inspect_error(flipped);
  }
}

TEST(InspectImage, RefusesTooManyPixels) {
  EXPECT_THAT(inspect_error(png(60000, 60000)), HasSubstr("more than the limit"));
  EXPECT_THAT(inspect_error(png(0xffffffff, 0xffffffff)), HasSubstr("more than the limit"));
  EXPECT_THAT(inspect_error(png(0, 5)), HasSubstr("0 x 5"));
}

Image ramp(int64_t width, int64_t height, int64_t channels) {
  Image image{width, height, channels, std::vector<uint8_t>(static_cast<size_t>(width * height * channels))};
  std::iota(image.pixels.begin(), image.pixels.end(), uint8_t{0});
  return image;
}

TEST(ResizeImage, AveragesWhenItReduces) {
  // Half the width: a triangle of four pixels, weights 1 3 3 1 (cut off and rescaled at the borders).
  const Image image{8, 1, 1, {0, 80, 0, 80, 160, 240, 160, 240}};
  EXPECT_THAT(resize_image(image, 4, 1).pixels, ElementsAre(34, 60, 180, 206));
}

TEST(ResizeImage, InterpolatesWhenItEnlarges) {
  const Image image{2, 1, 1, {0, 100}};
  EXPECT_THAT(resize_image(image, 4, 1).pixels, ElementsAre(0, 25, 75, 100));
  EXPECT_THAT(resize_image({1, 2, 1, {0, 100}}, 1, 4).pixels, ElementsAre(0, 25, 75, 100));
}

TEST(ResizeImage, GivesPillowsPixels) {
  const std::vector<uint8_t> pixels{
      248, 194, 190, 207, 147, 26,  237, 21,  245, 211, 239, 45,  5,   157, 159, 60,  54,  236, 109, 46,
      199, 82,  32,  205, 36,  7,   134, 222, 57,  146, 8,   149, 14,  15,  22,  10,  144, 208, 24,  24,
      7,   41,  11,  85,  59,  104, 225, 110, 226, 201, 8,   159, 26,  27,  163, 122, 33,  41,  201, 67,
      70,  166, 228, 40,  50,  179, 0,   177, 137, 63,  13,  188, 255, 64,  94,  8,   8,   156, 25,  29,
      157, 146, 190, 115, 219, 135, 39,  100, 237, 127, 72,  227, 168, 21,  73,  132, 16,  153, 140, 107,
      80,  163, 61,  110, 47,  229, 148, 170, 97,  110, 56,  150, 74,  193, 62,  44,  238};
  // Pillow 9.4: Image.fromarray(pixels).resize((5, 4), Image.BILINEAR).
  EXPECT_THAT(resize_image({13, 9, 1, pixels}, 5, 4).pixels,
              ElementsAre(163, 129, 107, 125, 86, 75, 74, 97, 125, 107, 86, 108, 136, 109, 91, 132, 114, 115,
                          116, 113));
}

TEST(ImagesToTensor, NormalizesPerChannelInBothLayouts) {
  const Image image = ramp(2, 1, 3);  // (0, 1, 2), (3, 4, 5)
  Preprocessing preprocessing;
  preprocessing.scale = 2;
  preprocessing.mean = {0, 2, 4};
  preprocessing.std = {1, 1, 2};
  const auto nchw = images_to_tensor({&image, 1}, preprocessing, Layout::kNchw);
  EXPECT_EQ(nchw.shape(), (tensor::Shape{1, 3, 1, 2}));
  EXPECT_THAT(nchw.values<float>(), ElementsAre(0, 6, 0, 6, 0, 3));
  const auto nhwc = images_to_tensor({&image, 1}, preprocessing, Layout::kNhwc);
  EXPECT_EQ(nhwc.shape(), (tensor::Shape{1, 1, 2, 3}));
  EXPECT_THAT(nhwc.values<float>(), ElementsAre(0, 0, 0, 6, 6, 3));
}

TEST(ImagesToTensor, CropsTheMiddle) {
  const Image image = ramp(5, 4, 1);
  Preprocessing preprocessing;
  preprocessing.scale = 1;
  preprocessing.crop = 2;
  // 1.5 columns to the left round to 2, as Python's round does.
  EXPECT_THAT(images_to_tensor({&image, 1}, preprocessing, Layout::kNchw).values<float>(),
              ElementsAre(7, 8, 12, 13));
  preprocessing.crop = 5;
  EXPECT_THROW(images_to_tensor({&image, 1}, preprocessing, Layout::kNchw), Error);
}

TEST(ImagesToTensor, RefusesWhatDoesNotFitTogether) {
  const std::vector<Image> images{ramp(2, 2, 1), ramp(3, 2, 1)};
  EXPECT_THROW(images_to_tensor(images, {}, Layout::kNchw), Error);
  Preprocessing preprocessing;
  preprocessing.mean = {1, 2};
  EXPECT_THROW(images_to_tensor({images.data(), 1}, preprocessing, Layout::kNchw), Error);
}

TEST(Preprocessing, IsReadFromMetadata) {
  const auto found = preprocessing_from({{"image.resize", "256"},
                                         {"image.crop", "224"},
                                         {"image.mean", "0.5,0.25,1"},
                                         {"image.std", "2"},
                                         {"author", "x"}});
  EXPECT_EQ(found.resize, 256);
  EXPECT_EQ(found.crop, 224);
  EXPECT_THAT(found.mean, ElementsAre(0.5f, 0.25f, 1.0f));
  EXPECT_THAT(found.std, ElementsAre(2.0f));
  EXPECT_FLOAT_EQ(found.scale, 1.0f / 255);
  for (const char* bad : {"", "x", "1,", "nan", "1 2", "-1"}) {
    EXPECT_THROW(preprocessing_from({{"image.crop", bad}}), Error) << bad;
  }
  for (const char* bad : {"", "x", "1,", "nan"}) {
    EXPECT_THROW(preprocessing_from({{"image.mean", bad}}), Error) << bad;
  }
  EXPECT_THAT(preprocessing_from({{"image.mean", "0.5 0.25 1"}}).mean, ElementsAre(0.5f, 0.25f, 1.0f));
}

/// The kind of the error that it ends in; that of a bug where it ends in none.
template <class F>
ErrorKind kind_of(F&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.kind();
  }
  return ErrorKind::kInternal;
}

TEST(Preprocessing, DividesByNothingThatCannotBeDividedBy) {
  for (const char* bad : {"0", "-0", "1,0,1", "1e-40", "1e-60", "inf", "nan"}) {
    EXPECT_EQ(kind_of([&] { preprocessing_from({{"image.std", bad}}); }), ErrorKind::kBadInput) << bad;
    EXPECT_EQ(kind_of([&] { parse_divisors(bad, "--std"); }), ErrorKind::kUsage) << bad;
  }
  EXPECT_THAT(parse_divisors("0.5,2", "--std"), ElementsAre(0.5f, 2.0f));
}

TEST(ImagesToTensor, SaysWhoseFaultItIs) {
  const Image image = ramp(2, 2, 1);
  const auto kind = [&](const Preprocessing& preprocessing) {
    return kind_of([&] { images_to_tensor({&image, 1}, preprocessing, Layout::kNchw); });
  };
  Preprocessing crop, mean, std;
  crop.crop = 3;
  mean.mean = {1, 2, 3};
  std.std = {1, 2, 3};
  for (const Preprocessing& of_model : {crop, mean, std}) EXPECT_EQ(kind(of_model), ErrorKind::kBadInput);
  crop.fault.crop = mean.fault.mean = std.fault.std = ErrorKind::kUsage;
  for (const Preprocessing& of_option : {crop, mean, std}) EXPECT_EQ(kind(of_option), ErrorKind::kUsage);
}

}  // namespace
}  // namespace hone::importer
