// Finding runs among files and folders: in which order, and which files are left alone.
#include "report/run_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/temporary_folder.hpp"

namespace hone::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> names(const RunFiles& found) {
  const auto kind_text = [](RunFileKind kind) {
    if (kind == RunFileKind::kPartition) return "partition ";
    return kind == RunFileKind::kSweep ? "sweep " : "trace ";
  };
  std::vector<std::string> result;
  for (const RunFile& file : found.files)
    result.push_back(kind_text(file.kind) + file.path.filename().string());
  return result;
}

TEST(RunFiles, FoldersAreSearchedAndSortedAndLinksNotFollowed) {
  const base::TemporaryFolder folder;
  const base::TemporaryFolder& f = folder;
  std::filesystem::create_directories(f.path() / "in" / "deeper");
  f.write("in/deeper/b.json", R"({"schema": "hone.bench", "version": 1)");
  f.write("in/a.trace.sqlite", "");
  f.write("in/b.sqlite.gz", "");
  f.write("in/c.json", R"({"schemaVersion": 1, "deviceProperties": []})");
  f.write("in/package.json", R"({"name": "other"})");
  f.write("in/log.txt", "");
  f.write("outside.json", R"({"schema": "hone.bench"})");
  std::filesystem::create_symlink(f.path() / "outside.json", f.path() / "in" / "link.json");
  std::filesystem::create_directory_symlink(f.path(), f.path() / "in" / "up");
  const RunFiles found = find_run_files({f.path() / "in"});
  EXPECT_THAT(names(found),
              ElementsAre("trace a.trace.sqlite", "trace b.sqlite.gz", "trace c.json", "sweep b.json"));
  EXPECT_EQ(found.others, 1U);
  EXPECT_THAT(found.sentences, IsEmpty());
}

TEST(RunFiles, NamedFilesAreTakenOnceAndInTheirOrder) {
  const base::TemporaryFolder folder;
  const auto sweep = folder.write("z.json", R"({"schema": "hone.bench"})");
  const auto text = folder.write("a.txt", "anything");
  const RunFiles found =
      find_run_files({sweep, text, folder.path(), folder.path() / "." / "z.json", "missing"});
  EXPECT_THAT(names(found), ElementsAre("sweep z.json", "trace a.txt", "trace missing"));
}

TEST(RunFiles, PartitionsAreFoundAndTakenByName) {
  const base::TemporaryFolder folder;
  const auto named = folder.write("p.txt", R"({"schema": "hone.partition", "version": 1})");
  folder.write("q.json", R"({"schema": "hone.partition", "version": 1})");
  EXPECT_THAT(names(find_run_files({named, folder.path()})),
              ElementsAre("partition p.txt", "partition q.json"));
}

TEST(RunFiles, AFolderOfTooManyFilesIsNotSearched) {
  const base::TemporaryFolder folder;
  for (const char* name : {"a.sqlite", "b.sqlite", "c.sqlite"}) folder.write(name, "");
  EXPECT_THAT(names(find_run_files({folder.path()}, 3)), SizeIs(3));
  const RunFiles found = find_run_files({folder.path()}, 2);
  EXPECT_THAT(found.files, IsEmpty());
  EXPECT_THAT(found.sentences, ElementsAre(HasSubstr("more than 2 files; name a smaller folder")));
}

/// While it lives, files are read as somebody who owns none of them: root may read everything.
class Stranger {
 public:
  Stranger() {
    constexpr uid_t kNobody = 65534;
    if (user_ == 0) changed_ = ::seteuid(kNobody) == 0;
  }
  ~Stranger() {
    if (changed_ && ::seteuid(user_) != 0) ADD_FAILURE() << "the user cannot be set back";
  }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

 private:
  uid_t user_ = ::geteuid();
  bool changed_ = false;
};

TEST(RunFiles, WhatCannotBeReadIsSaidAndTheRestFound) {
  const base::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "b");
  std::filesystem::create_directories(folder.path() / "c");
  folder.write("a.sqlite", "");
  folder.write("b/hidden.sqlite", "");
  folder.write("c/z.sqlite", "");
  const auto closed = folder.write("c/closed.json", "{}");
  using std::filesystem::perms;
  std::filesystem::permissions(folder.path() / "b", perms::none);
  std::filesystem::permissions(closed, perms::none);
  const RunFiles found = [&] {
    const Stranger stranger;
    return find_run_files({folder.path()});
  }();
  std::filesystem::permissions(folder.path() / "b", perms::owner_all);
  EXPECT_THAT(names(found), ElementsAre("trace a.sqlite", "trace z.sqlite"));
  EXPECT_THAT(found.sentences, ElementsAre((folder.path() / "b").string() + ": Permission denied",
                                           closed.string() + ": Permission denied"));
  EXPECT_EQ(found.others, 0U);
}

TEST(RunFiles, NamesOfTracesLoseTheirExtensions) {
  EXPECT_EQ(trace_stem("runs/resnet50-hone-fp16-b1.trace.sqlite"), "resnet50-hone-fp16-b1");
  EXPECT_EQ(trace_stem("host_1.17.pt.trace.json.gz"), "host_1.17");
  EXPECT_EQ(trace_stem("a b.sqlite"), "a_b");
  EXPECT_EQ(trace_stem("tests/trace/data/known_path.sqlite.gz"), "known_path");
  EXPECT_EQ(trace_stem("a.trace.sqlite.gz"), "a");
  EXPECT_EQ(trace_stem(".sqlite"), "trace");
}

}  // namespace
}  // namespace hone::report
