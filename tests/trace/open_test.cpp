// Kinds of files are told apart by what they hold, and what cannot be read is named with what to do about it.
#include "trace/open.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/temporary_folder.hpp"
#include "trace/format/kineto_samples.hpp"
#include "trace/gzip.hpp"
#include "trace/sqlite.hpp"
#include "trace/store.hpp"

namespace hone::trace {
namespace {

using ::testing::HasSubstr;

class OpenTrace : public ::testing::Test {
 protected:
  /// Why the file cannot be opened.
  std::string refusal(const std::filesystem::path& path, ErrorKind kind = ErrorKind::kBadInput) {
    try {
      open_trace(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind);
      EXPECT_THAT(error.what(), HasSubstr(path.filename().string()));
      return error.what();
    }
    ADD_FAILURE() << path << " was opened";
    return "";
  }
  base::TemporaryFolder folder_;
};

TEST_F(OpenTrace, OpensStoresAndJsonWhateverTheirNames) {
  EXPECT_EQ(open_trace(folder_.write("a.txt", std::string("\xef\xbb\xbf \n") + k2021)).host_events.size(),
            4U);
  EXPECT_EQ(open_trace(folder_.write("b", gzip(k2021))).host_events.size(), 4U);
  Trace trace;
  trace.metadata["program"] = "toy";
  write_store(trace, folder_.path() / "c.json");
  EXPECT_EQ(open_trace(folder_.path() / "c.json").metadata.at("program"), "toy");
}

TEST_F(OpenTrace, NamesWhatItCannotRead) {
  EXPECT_THAT(refusal(folder_.write("a.nsys-rep", "NSYS")), HasSubstr("nsys export --type sqlite"));
  EXPECT_THAT(refusal(folder_.write("a.qdrep", "QD")), HasSubstr("nsys export --type sqlite"));
  EXPECT_THAT(refusal(folder_.write("a.ncu-rep", "NVR")), HasSubstr("Nsight Compute"));
  EXPECT_THAT(refusal(folder_.write("a.txt", "hello")), HasSubstr("neither SQLite"));
  EXPECT_THAT(refusal(folder_.write("empty", "")),
              HasSubstr("the file is empty, as that of a recording is until it ends"));
  EXPECT_THAT(refusal(folder_.write("b.json", "{}")), HasSubstr("no trace"));
  EXPECT_THAT(refusal(folder_.path() / "missing"), HasSubstr("no such file"));

  SqliteDatabase::create(folder_.path() / "nvprof.sqlite")
      .execute(
          "CREATE TABLE StringTable (_id_ INTEGER, value TEXT); CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (a)");
  EXPECT_THAT(refusal(folder_.path() / "nvprof.sqlite"), HasSubstr("hone profile"));
  SqliteDatabase::create(folder_.path() / "other.sqlite").execute("CREATE TABLE t (a)");
  EXPECT_THAT(refusal(folder_.path() / "other.sqlite"), HasSubstr("neither a trace of hone"));
}

TEST_F(OpenTrace, OpensPackedStores) {
  Trace trace;
  trace.metadata["program"] = "toy";
  write_store(trace, folder_.path() / "a.sqlite");
  const std::string packed = gzip(base::read_file(folder_.path() / "a.sqlite"));
  EXPECT_EQ(open_trace(folder_.write("a.sqlite.gz", packed)).metadata.at("program"), "toy");
  const Trace cut = open_trace(folder_.write("cut.gz", packed.substr(0, packed.size() - 20)));
  EXPECT_EQ(cut.metadata.at("program"), "toy");
  EXPECT_TRUE(std::any_of(cut.doubts.begin(), cut.doubts.end(), [](const Doubt& doubt) {
    return doubt.severity == Severity::kLoss && doubt.text.find("breaks off after") != std::string::npos;
  }));
}

TEST_F(OpenTrace, RefusesAPackedBomb) {
  Trace trace;
  write_store(trace, folder_.path() / "a.sqlite");
  const std::string zeros(size_t{65} << 20, '\0');
  const std::string packed = gzip(base::read_file(folder_.path() / "a.sqlite")) + gzip(zeros);
  EXPECT_THAT(refusal(folder_.write("bomb.gz", packed)), HasSubstr("unpacks to more than 64 MB"));
}

TEST_F(OpenTrace, SaysWhatIsNoFileToRead) {
  std::filesystem::create_directory(folder_.path() / "folder");
  EXPECT_THAT(refusal(folder_.path() / "folder"), HasSubstr("this is a folder"));
  EXPECT_THAT(refusal("/dev/null"), HasSubstr("no regular file"));
  const auto secret = folder_.write("secret", k2021);
  std::filesystem::permissions(secret, std::filesystem::perms::none);
  if (access(secret.c_str(), R_OK) == 0) GTEST_SKIP() << "this user may read everything";
  EXPECT_THAT(refusal(secret, ErrorKind::kEnvironment), HasSubstr("Permission denied"));
}

}  // namespace
}  // namespace hone::trace
