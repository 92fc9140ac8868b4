// Kinds of files are told apart by what they hold, and what cannot be read is named with what to do about it.
#include "trace/open.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "trace/format/kineto_samples.hpp"
#include "trace/gzip.hpp"
#include "trace/sqlite.hpp"
#include "trace/store.hpp"
#include "trace/temporary_folder.hpp"

namespace hone::trace {
namespace {

using ::testing::HasSubstr;

class OpenTrace : public ::testing::Test {
 protected:
  /// Why the file cannot be opened.
  std::string refusal(const std::filesystem::path& path) {
    try {
      open_trace(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
      EXPECT_THAT(error.what(), HasSubstr(path.filename().string()));
      return error.what();
    }
    ADD_FAILURE() << path << " was opened";
    return "";
  }
  TemporaryFolder folder_;
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
  EXPECT_THAT(refusal(folder_.write("empty", "")), HasSubstr("neither SQLite"));
  EXPECT_THAT(refusal(folder_.write("b.json", "{}")), HasSubstr("no trace"));
  EXPECT_THAT(refusal(folder_.path() / "missing"), HasSubstr("no such file"));

  SqliteDatabase::create(folder_.path() / "nvprof.sqlite")
      .execute(
          "CREATE TABLE StringTable (_id_ INTEGER, value TEXT); CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (a)");
  EXPECT_THAT(refusal(folder_.path() / "nvprof.sqlite"), HasSubstr("hone profile"));
  SqliteDatabase::create(folder_.path() / "other.sqlite").execute("CREATE TABLE t (a)");
  EXPECT_THAT(refusal(folder_.path() / "other.sqlite"), HasSubstr("neither a trace of hone"));
}

}  // namespace
}  // namespace hone::trace
