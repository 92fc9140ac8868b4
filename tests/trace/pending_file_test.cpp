// Files in the making touch none that were there, and leave nothing behind.
#include "trace/pending_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"
#include "trace/format/text_sink.hpp"
#include "trace/store.hpp"
#include "trace/temporary_folder.hpp"

namespace hone::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

class Pending : public ::testing::Test {
 protected:
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      names.push_back(entry.path().filename().string());
    return names;
  }
  std::filesystem::path at(const std::string& name) const { return folder_.path() / name; }

  TemporaryFolder folder_;
};

TEST_F(Pending, TakesTheTargetsPlaceWhenItIsPublished) {
  base::write_file_atomic(at("a"), "old");
  PendingFile file(at("a"));
  ASSERT_EQ(::write(file.descriptor(), "new", 3), 3);
  EXPECT_EQ(base::read_file(at("a")), "old");
  file.publish();
  EXPECT_EQ(base::read_file(at("a")), "new");
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(Pending, IsGoneWhenItIsNot) {
  { const PendingFile file(at("a")); }
  EXPECT_THAT(names(), ElementsAre());
}

TEST_F(Pending, OfOneTargetDoNotShareAFile) {
  const PendingFile one(at("a"));
  const PendingFile other(at("a"));
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
  const PendingFile file(at(name));
  EXPECT_EQ(file.path().parent_path(), folder_.path());
  EXPECT_LT(file.path().filename().string().size(), 40U);
  write_store(Trace(), at(name));
  EXPECT_EQ(read_store(at(name)).host_events.size(), 0U);
}

TEST_F(Pending, LeavesTheFilesOfOthersUnderSuchNames) {
  const std::string taken = fmt::format(".hone.{}.1", ::getpid());
  base::write_file_atomic(at(taken), "precious");
  const PendingFile file(at("a"));
  EXPECT_NE(file.path(), at(taken));
  EXPECT_EQ(base::read_file(at(taken)), "precious");
}

TEST_F(Pending, TracesAndTablesTouchNoFilesOfOthers) {
  base::write_file_atomic(at("a.sqlite.tmp"), "precious");
  base::write_file_atomic(at("a.csv.tmp"), "precious");
  write_store(Trace(), at("a.sqlite"));
  TextSink table(at("a.csv"), false);
  table.write("1,2\n");
  table.finish();
  EXPECT_EQ(base::read_file(at("a.sqlite.tmp")), "precious");
  EXPECT_EQ(base::read_file(at("a.csv.tmp")), "precious");
  EXPECT_EQ(base::read_file(at("a.csv")), "1,2\n");
  EXPECT_THAT(names(), UnorderedElementsAre("a.sqlite", "a.csv", "a.sqlite.tmp", "a.csv.tmp"));
}

}  // namespace
}  // namespace hone::trace
