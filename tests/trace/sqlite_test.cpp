// Forged databases cost no more time and memory than files of their size may, and run nothing.
#include "trace/sqlite.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/temporary_folder.hpp"
#include "trace/open.hpp"
#include "trace/store.hpp"

namespace hone::trace {
namespace {

using ::testing::HasSubstr;

class Sqlite : public ::testing::Test {
 protected:
  /// A trace that was changed by this.
  std::filesystem::path forged(const std::string& sql) {
    const auto path = folder_.path() / fmt::format("{}.sqlite", ++files_);
    Trace trace;
    trace.metadata["program"] = "toy";
    write_store(trace, path);
    SqliteDatabase::create(path).execute(sql);
    return path;
  }
  /// Why the file cannot be read.
  std::string refusal(const std::filesystem::path& path) {
    try {
      open_trace(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
      return error.what();
    }
    ADD_FAILURE() << path << " was opened";
    return "";
  }
  base::TemporaryFolder folder_;
  int files_ = 0;
};

TEST_F(Sqlite, RefusesViewsThatNeverEnd) {
  for (const char* table : {"metadata", "strings", "launches"}) {
    EXPECT_THAT(refusal(forged(
                    fmt::format("DROP TABLE {0}; CREATE VIEW {0} AS WITH RECURSIVE r(key, value) AS (SELECT "
                                "1, 'x' UNION ALL SELECT key + 1, 'x' FROM r) SELECT * FROM r",
                                table))),
                HasSubstr(fmt::format("{} is no table of rows", table)));
  }
}

/// The list of tables is a table like others, so that a file can say anything in it.
TEST_F(Sqlite, RefusesViewsThatAreCalledTables) {
  const auto path = forged("DROP TABLE metadata; CREATE VIEW metadata AS SELECT 'a' AS key, 'b' AS value");
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  const int forgery = sqlite3_exec(database,
                                   "PRAGMA writable_schema = ON; UPDATE sqlite_master SET type = 'table', "
                                   "rootpage = 2 WHERE name = 'metadata'",
                                   nullptr, nullptr, nullptr);
  sqlite3_close(database);
  ASSERT_EQ(forgery, SQLITE_OK);
  EXPECT_THAT(refusal(path), HasSubstr("metadata is no table of rows"));
}

TEST_F(Sqlite, RefusesColumnsAndTablesThatAreComputed) {
  EXPECT_THAT(
      refusal(forged("DROP TABLE strings; CREATE TABLE strings (id INTEGER PRIMARY KEY, value TEXT AS "
                     "(hex(zeroblob(30000000)) || id)); INSERT INTO strings (id) VALUES (1), (2)")),
      HasSubstr("strings is no table of rows"));
}

TEST_F(Sqlite, RefusesVirtualTables) {
  const auto path = forged("DROP TABLE metadata; CREATE TABLE metadata (key TEXT, value TEXT)");
  std::string bytes = base::read_file(path);
  const std::string plain = "CREATE TABLE metadata (key TEXT, value TEXT)";
  const std::string forgery = "CREATE VIRTUAL TABLE metadata USING fts5(kv)";
  ASSERT_EQ(plain.size(), forgery.size());
  bytes.replace(bytes.rfind(plain), plain.size(), forgery);
  EXPECT_THAT(refusal(folder_.write("virtual.sqlite", bytes)), HasSubstr("no such module"));
}

TEST_F(Sqlite, BoundsTextThatTheFileDoesNotHold) {
  // A column that a row lacks has the default, which is in the file once.
  const auto path = forged(
      "DROP TABLE strings; CREATE TABLE strings (id INTEGER PRIMARY KEY); WITH RECURSIVE r(i) AS (SELECT 1 "
      "UNION ALL SELECT i + 1 FROM r WHERE i < 20000) INSERT INTO strings SELECT i FROM r; ALTER TABLE "
      "strings "
      "ADD COLUMN value TEXT DEFAULT '" +
      std::string(100'000, 'x') + "'");
  const Trace trace = open_trace(path);
  ASSERT_FALSE(trace.doubts.empty());
  EXPECT_THAT(trace.doubts[0].text, HasSubstr("more text than its size has room for"));
}

TEST_F(Sqlite, BoundsStepsByTheSizeOfTheFile) {
  SqliteDatabase database = SqliteDatabase::open_read_only(forged(""));
  SqliteStatement endless =
      database.prepare("WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT i FROM r");
  try {
    while (endless.step()) {
    }
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_THAT(error.what(), HasSubstr("more rows than its size has room for"));
  }
}

TEST_F(Sqlite, HasRoomForTheSmallestRows) {
  const auto path = forged(
      "DELETE FROM host_events; WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < "
      "300000) INSERT INTO host_events SELECT 1, 1, 1, 0, 0, 0, 0, 0, 0 FROM r; INSERT INTO threads VALUES "
      "(1, "
      "1, 0)");
  EXPECT_EQ(open_trace(path).host_events.size(), 300'000U);
}

}  // namespace
}  // namespace hone::trace
