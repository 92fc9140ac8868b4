// TensorRT's text: names with anything in them, and every way a line can be wrong.
#include "quantize/tensorrt_cache.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.hpp"
#include "hone/error.hpp"

namespace hone::quantize {
namespace {

using testing::HasSubstr;

/// A file of this process only: the tests of this file run at the same time.
std::filesystem::path path_of(const std::string& name) {
  return std::filesystem::path(testing::TempDir()) / fmt::format("{}-{}", ::getpid(), name);
}

std::filesystem::path file_of(const std::string& text) {
  const auto file = path_of("trt.cache");
  base::write_file_atomic(file, text);
  return file;
}

std::string refusal(const std::string& text) {
  try {
    read_tensorrt_cache(file_of(text));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_THAT(error.what(), HasSubstr("trt.cache"));
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return {};
}

TEST(TensorrtCache, ReadsWhatTensorrtWrites) {
  const TensorrtCache cache = read_tensorrt_cache(
      file_of("TRT-100100-EntropyCalibration2\nimages: 3c010a14\n"
              "(Unnamed Layer* 4) [Fully Connected]_output: 3dc6a9ed\na: b: 3f800000\r\n"));
  EXPECT_EQ(cache.header, "TRT-100100-EntropyCalibration2");
  ASSERT_EQ(cache.scales.size(), 3u);
  EXPECT_EQ(cache.scales[0].first, "images");
  EXPECT_NEAR(cache.scales[0].second, 1.0 / 127, 1e-5);
  EXPECT_EQ(cache.scales[1].first, "(Unnamed Layer* 4) [Fully Connected]_output");
  EXPECT_EQ(cache.scales[2].first, "a: b");
  EXPECT_EQ(cache.scales[2].second, 1);
}

TEST(TensorrtCache, WritesWhatItReads) {
  const auto file = path_of("written.cache");
  write_tensorrt_cache(file, {tensorrt_header(8601, false), {{"x: y", 1.0f}, {"z", 0.5f}}});
  EXPECT_EQ(base::read_file(file), "TRT-8601-EntropyCalibration2\nx: y: 3f800000\nz: 3f000000\n");
  EXPECT_EQ(read_tensorrt_cache(file).scales[0].first, "x: y");
  EXPECT_EQ(tensorrt_header(8501, true), "TRT-8501-MinMaxCalibration");
  EXPECT_TRUE(is_tensorrt_cache(file));
  EXPECT_FALSE(is_tensorrt_cache(file_of("{}")));
  EXPECT_FALSE(is_tensorrt_cache("/nowhere"));
  EXPECT_THROW(write_tensorrt_cache(file, {"TRT-1-x", {{"a\nb", 1.0f}}}), Error);
}

TEST(TensorrtCache, RefusesWhatIsNone) {
  EXPECT_THAT(refusal(""), HasSubstr("no calibration cache"));
  EXPECT_THAT(refusal("hello\nx: 3f800000\n"), HasSubstr("no calibration cache"));
  EXPECT_THAT(refusal("TRT-8601-EntropyCalibration2\n"), HasSubstr("names no tensor"));
  EXPECT_THAT(refusal("TRT-1-x\nx 3f800000\n"), HasSubstr("line 2"));
  EXPECT_THAT(refusal("TRT-1-x\nx: 3f80\n"), HasSubstr("line 2"));
  EXPECT_THAT(refusal("TRT-1-x\nx: 3f80000g\n"), HasSubstr("line 2"));
  EXPECT_THAT(refusal("TRT-1-x\nx: 00000000\n"), HasSubstr("'x' has the scale 0"));
  EXPECT_THAT(refusal("TRT-1-x\nx: 7fc00000\n"), HasSubstr("'x' has the scale nan"));
  EXPECT_THAT(refusal("TRT-1-x\nx: 7f800000\n"), HasSubstr("'x' has the scale inf"));
  EXPECT_THAT(refusal("TRT-1-x\nx: bf800000\n"), HasSubstr("'x' has the scale -1"));
  EXPECT_THAT(refusal("TRT-1-x\nx: 3f800000\nx: 3f800000\n"), HasSubstr("again"));
}

}  // namespace
}  // namespace hone::quantize
