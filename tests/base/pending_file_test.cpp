// Files in the making touch none that were there, and leave nothing behind.
#include "base/pending_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/temporary_folder.hpp"

namespace hone::base {
namespace {

using ::testing::ElementsAre;

class Pending : public ::testing::Test {
 protected:
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      names.push_back(entry.path().filename().string());
    return names;
  }
  std::filesystem::path at(const std::string& name) const { return folder_.path() / name; }

  static constexpr PendingFile::Name kNamed = PendingFile::Name::kFromTheStart;

  TemporaryFolder folder_;
};

TEST_F(Pending, TakesTheTargetsPlaceWhenItIsPublished) {
  for (const PendingFile::Name name : {PendingFile::Name::kWhenPublished, kNamed}) {
    write_file_atomic(at("a"), "old");
    PendingFile file(at("a"), name);
    ASSERT_EQ(::write(file.descriptor(), "new", 3), 3);
    EXPECT_EQ(read_file(at("a")), "old");
    file.publish();
    EXPECT_EQ(read_file(at("a")), "new");
    EXPECT_THAT(names(), ElementsAre("a"));
  }
}

TEST_F(Pending, IsGoneWhenItIsNot) {
  for (const PendingFile::Name name : {PendingFile::Name::kWhenPublished, kNamed}) {
    const PendingFile file(at("a"), name);
    EXPECT_EQ(names().size(), name == kNamed ? 1U : 0U);
  }
  EXPECT_THAT(names(), ElementsAre());
}

TEST_F(Pending, OfOneTargetDoNotShareAFile) {
  const PendingFile one(at("a"), kNamed);
  const PendingFile other(at("a"), kNamed);
  EXPECT_NE(one.path(), other.path());
}

TEST_F(Pending, RefuseATargetThatIsNoRegularFile) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_THROW(PendingFile(at("pipe")), Error);
  EXPECT_THROW(PendingFile(folder_.path()), Error);
  EXPECT_THROW(PendingFile(at("missing/a")), Error);
}

TEST_F(Pending, OfTheLongestNameHasAShortOne) {
  constexpr size_t kLongest = 255;
  const std::string name(kLongest, 'n');
  const PendingFile file(at(name), kNamed);
  EXPECT_EQ(file.path().parent_path(), folder_.path());
  EXPECT_LT(file.path().filename().string().size(), 40U);
}

TEST_F(Pending, LeavesTheFilesOfOthersUnderSuchNames) {
  const std::string taken = fmt::format(".hone.{}.1", ::getpid());
  write_file_atomic(at(taken), "precious");
  const PendingFile file(at("a"), kNamed);
  EXPECT_NE(file.path(), at(taken));
  EXPECT_EQ(read_file(at(taken)), "precious");
}

}  // namespace
}  // namespace hone::base
