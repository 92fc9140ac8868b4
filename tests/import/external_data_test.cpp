// External data is read from the model's folder and from nowhere else.
#include "import/onnx/external_data.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/error.hpp"

namespace hone::importer {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ExternalData : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(model_folder_ / "sub");
    std::ofstream(model_folder_ / "weights.bin") << "12345678";
    std::ofstream(model_folder_ / "sub" / "more.bin") << "abcd";
    std::ofstream(root_ / "secret.bin") << "secret!!";
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string read(const std::string& location, uint64_t offset = 0, std::optional<uint64_t> length = {}) {
    const auto result = ExternalFolder(model_folder_).map(location, offset, length);
    return {reinterpret_cast<const char*>(result.bytes.data()), result.bytes.size()};
  }
  std::string refusal(const std::string& location, uint64_t offset = 0, std::optional<uint64_t> length = {}) {
    try {
      ADD_FAILURE() << "read " << read(location, offset, length);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
      return error.what();
    }
    return "";
  }

  const fs::path root_ = fs::temp_directory_path() / ("hone-external-" + std::to_string(::getpid()));
  const fs::path model_folder_ = root_ / "model";
};

TEST_F(ExternalData, ReadsRangesInsideTheFolder) {
  EXPECT_EQ(read("weights.bin"), "12345678");
  EXPECT_EQ(read("weights.bin", 2, 3), "345");
  EXPECT_EQ(read("weights.bin", 8, 0), "");
  EXPECT_EQ(read("sub/more.bin", 1), "bcd");
}

TEST_F(ExternalData, RefusesPathsThatLeaveTheFolder) {
  EXPECT_THAT(refusal("../secret.bin"), HasSubstr("leaves the model's folder"));
  EXPECT_THAT(refusal("sub/../../secret.bin"), HasSubstr("leaves the model's folder"));
  EXPECT_THAT(refusal((root_ / "secret.bin").string()), HasSubstr("is an absolute path"));
  EXPECT_THAT(refusal(""), HasSubstr("location is empty"));
  EXPECT_THAT(refusal(std::string("weights.bin\0.txt", 16)), HasSubstr("zero byte"));
}

TEST_F(ExternalData, RefusesLinksThatLeaveTheFolder) {
  fs::create_symlink(root_ / "secret.bin", model_folder_ / "link.bin");
  fs::create_symlink("../secret.bin", model_folder_ / "relative.bin");
  fs::create_directory_symlink(root_, model_folder_ / "up");
  fs::create_hard_link(root_ / "secret.bin", model_folder_ / "hard.bin");
  EXPECT_THAT(refusal("link.bin"), HasSubstr("leaves the model's folder"));
  EXPECT_THAT(refusal("relative.bin"), HasSubstr("leaves the model's folder"));
  EXPECT_THAT(refusal("up/secret.bin"), HasSubstr("leaves the model's folder"));
  EXPECT_THAT(refusal("hard.bin"), HasSubstr("hard link"));
}

TEST_F(ExternalData, AFolderReachedThroughALinkIsFine) {
  fs::create_directory_symlink(model_folder_, root_ / "alias");
  const auto result = ExternalFolder(root_ / "alias").map("weights.bin", 0, 8);
  EXPECT_EQ(result.bytes.size(), 8u);
}

TEST_F(ExternalData, RefusesRangesBeyondTheFile) {
  EXPECT_THAT(refusal("weights.bin", 9), HasSubstr("holds 8 bytes"));
  EXPECT_THAT(refusal("weights.bin", 4, 5), HasSubstr("holds 8 bytes"));
  EXPECT_THAT(refusal("weights.bin", 0, uint64_t{1} << 50), HasSubstr("holds 8 bytes"));
  EXPECT_THAT(refusal("weights.bin", ~uint64_t{0}, ~uint64_t{0}), HasSubstr("holds 8 bytes"));
}

TEST_F(ExternalData, RefusesWhatIsNoFile) {
  EXPECT_THAT(refusal("sub"), HasSubstr("not a regular file"));
  EXPECT_THAT(refusal("nothing.bin"), HasSubstr("cannot open"));
}

}  // namespace
}  // namespace hone::importer
