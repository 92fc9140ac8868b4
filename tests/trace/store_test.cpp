// The trace on disk holds what the trace in memory held; foreign, later and damaged files are told apart.
#include "trace/store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/temporary_folder.hpp"
#include "trace/sqlite.hpp"

namespace hone::trace {
namespace {

using ::testing::HasSubstr;

class Store : public ::testing::Test {
 protected:
  base::TemporaryFolder temporary_;
  std::filesystem::path folder_ = temporary_.path();
  std::filesystem::path path_ = folder_ / "a.trace.sqlite";
};

Trace small_trace() {
  Trace trace;
  trace.metadata["program"] = "toy";
  trace.devices.push_back({0, trace.strings.intern("NVIDIA H200"), 150'754'820'096, 9, 0, 132, 32, 2048});
  trace.contexts.push_back({1, 0, 42, 7});
  trace.streams.push_back({1, 7, StreamKind::kNull, -5});
  const int32_t thread = trace.thread_index(42, 43);
  trace.operators.push_back({trace.strings.intern("[[8,8]]"), 0, 0, 0, 17});
  HostEvent launch{1000, 1500, HostKind::kRuntimeApi, trace.strings.intern("cudaLaunchKernel"), thread,
                   100,  1};
  HostEvent op{900, 1600, HostKind::kOperator, trace.strings.intern("aten::mm"), thread, kNone, 1, 0};
  trace.host_events = {launch, op};
  trace.launches.push_back({{40, 1, 1}, {256, 2, 1}, {2, 1, 1}, 64, 1024, 2048, 16, true, 12.5, 0});
  trace.transfers.push_back(
      {4096, CopyDirection::kHostToDevice, MemoryKind::kPinned, MemoryKind::kDevice, true});
  trace.device_events.push_back({2000, 2500, DeviceKind::kKernel, trace.strings.intern("gemm \"quoted\"\n"),
                                 0, 1, 7, 100, 5, 6, 3, 1, 0});
  trace.device_events.push_back({1700, 1800, DeviceKind::kCopy, trace.strings.intern("copy"), 0, 1, 7, 99});
  trace.device_events.back().detail = 0;
  trace.synchronizations.push_back({2600, 2700, SyncKind::kStreamWaitEvent, 0, 1, 7, 3, 12, 101});
  trace.thread_syncs.push_back({2600, 2650, ThreadOperation::kSemaphoreWait, thread, 0x7f10});
  trace.thread_usages.push_back({900, 1600, thread, trace.strings.intern("CPU time"), 650});
  trace.event_records.push_back({12, 3, 0, 1, 7, 98, 2550});
  trace.graph_nodes.push_back({5, 6, 4, trace.strings.intern("conv1")});
  trace.graph_edges.push_back({5, 8});
  trace.model_steps.push_back({trace.strings.intern("conv1"), 0, 0, 0, 0, 0, 2.5e9, 1e6,
                               trace.strings.intern("[]"),
                               trace.strings.intern("[{\"tactic\":\"direct\"}]")});
  trace.allocations.push_back({950, 0, thread, 0x7f00, -512, 100, 200, 0});
  const StringId counter = trace.strings.intern("SMs active");
  trace.counter_units[counter] = "%";
  trace.counter_samples.push_back({1100, counter, 0, 53.25});
  trace.kernel_metrics.push_back({42, 3, 1, trace.strings.intern("gemm"), trace.strings.intern("conv1"),
                                  trace.strings.intern("ipc"), trace.strings.intern("%"), 1.75});
  trace.doubt(Severity::kLoss, "kernels", "were dropped", 3);
  normalize(trace);
  return trace;
}

TEST_F(Store, TouchesNoFileOfOthers) {
  const std::filesystem::path other = path_.string() + ".tmp";
  base::write_file_atomic(other, "precious");
  write_store(Trace(), path_);
  EXPECT_EQ(base::read_file(other), "precious");
}

TEST_F(Store, HasTheLongestName) {
  constexpr size_t kLongest = 255;
  const std::filesystem::path path = folder_ / std::string(kLongest, 'n');
  write_store(Trace(), path);
  EXPECT_EQ(read_store(path).host_events.size(), 0U);
}

TEST_F(Store, NamesTheFileThatCannotBeWrittenAndNotTheTemporaryOne) {
  // A limit on the size of files stands for the full disk: both fail in write().
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  std::optional<Error> refusal;
  try {
    write_store(small_trace(), path_);
  } catch (const Error& error) {
    refusal = error;
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->kind(), ErrorKind::kEnvironment);
  EXPECT_STREQ(refusal->what(), (path_.string() + ": disk I/O error").c_str());
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(Store, GivesBackEveryColumn) {
  const Trace trace = small_trace();
  write_store(trace, path_);
  const Trace read = read_store(path_);
  // The text form of all tables compares every column at once.
  const std::filesystem::path again = folder_ / "again.sqlite";
  write_store(read, again);
  SqliteDatabase database = SqliteDatabase::open_read_only(path_);
  database.execute(fmt::format("ATTACH '{}' AS other", again.string()));
  SqliteStatement tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'");
  int compared = 0;
  while (tables.step()) {
    const std::string name(tables.text(0));
    SqliteStatement difference = database.prepare(
        fmt::format("SELECT count(*) FROM (SELECT * FROM main.{0} EXCEPT SELECT * FROM other.{0})", name));
    ASSERT_TRUE(difference.step());
    EXPECT_EQ(difference.integer(0), 0) << name;
    SqliteStatement rows = database.prepare(fmt::format("SELECT count(*) FROM other.{}", name));
    ASSERT_TRUE(rows.step());
    EXPECT_GT(rows.integer(0), 0) << name;
    ++compared;
  }
  EXPECT_EQ(compared, 23);
  EXPECT_EQ(read.text(read.device_events[1].name), "gemm \"quoted\"\n");
  EXPECT_EQ(read.launches[0].cluster[0], 2);
  EXPECT_EQ(read.counter_units.begin()->second, "%");
}

TEST_F(Store, HasViewsForPeople) {
  write_store(small_trace(), path_);
  SqliteDatabase database = SqliteDatabase::open_read_only(path_);
  SqliteStatement query = database.prepare("SELECT name, grid_x, \"end\" - start FROM kernels");
  ASSERT_TRUE(query.step());
  EXPECT_EQ(query.integer(1), 40);
  EXPECT_EQ(query.integer(2), 500);
  SqliteStatement copies = database.prepare("SELECT bytes FROM copies");
  ASSERT_TRUE(copies.step());
  EXPECT_EQ(copies.integer(0), 4096);
}

TEST_F(Store, RefusesOtherFiles) {
  std::ofstream(path_)
      << "not a database, but long enough to have a header of one hundred bytes or more ............";
  EXPECT_THROW(read_store(path_), Error);
  const std::filesystem::path foreign = folder_ / "foreign.sqlite";
  SqliteDatabase::create(foreign).execute("CREATE TABLE t (a)");
  SqliteDatabase database = SqliteDatabase::open_read_only(foreign);
  EXPECT_FALSE(is_store(database));
  EXPECT_THROW(read_store(foreign), Error);
  EXPECT_THROW(read_store(folder_ / "missing"), Error);
}

TEST_F(Store, RefusesLaterVersions) {
  write_store(small_trace(), path_);
  SqliteDatabase::create(path_).execute("PRAGMA user_version = 99");
  try {
    read_store(path_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("version 99"));
  }
}

TEST_F(Store, SaysWhichRowsItCouldNotUse) {
  write_store(small_trace(), path_);
  SqliteDatabase::create(path_).execute(
      "UPDATE host_events SET kind = 77 WHERE kind = 0; UPDATE device_events SET detail = 12 WHERE kind = 1;"
      "DROP TABLE allocations; DROP TABLE kernel_metrics");
  const Trace trace = read_store(path_);
  EXPECT_EQ(trace.host_events.size(), 1U);
  EXPECT_EQ(trace.device_events[0].detail, -1);
  EXPECT_TRUE(trace.allocations.empty());
  EXPECT_TRUE(trace.kernel_metrics.empty());
  EXPECT_EQ(trace.doubts.size(), 3U);
}

const Doubt* find_doubt(const Trace& trace, std::string_view about, std::string_view part) {
  for (const Doubt& doubt : trace.doubts) {
    if (doubt.about == about && doubt.text.find(part) != std::string::npos) return &doubt;
  }
  return nullptr;
}

TEST_F(Store, LeavesOutRowsWithTextForNumbers) {
  write_store(small_trace(), path_);
  SqliteDatabase::create(path_).execute(
      "UPDATE host_events SET start = 'text' WHERE kind = 0; UPDATE counter_samples SET value = x'00';"
      "UPDATE transfers SET bytes = 'text'");
  const Trace trace = read_store(path_);
  EXPECT_EQ(trace.host_events.size(), 1U);
  EXPECT_EQ(extent(trace).start, 1000);
  EXPECT_TRUE(trace.counter_samples.empty());
  ASSERT_EQ(trace.transfers.size(), 1U);  // its place is kept, as events refer to it
  EXPECT_EQ(trace.transfers[0].bytes, 0);
  for (const char* table : {"host_events", "counter_samples", "transfers"}) {
    const Doubt* doubt = find_doubt(trace, table, "of another type");
    ASSERT_NE(doubt, nullptr) << table;
    EXPECT_EQ(doubt->severity, Severity::kLoss);
    EXPECT_EQ(doubt->count, 1);
  }
}

/// A trace of many host events, whose pages lie between those of the list of tables.
Trace large_trace() {
  Trace trace = small_trace();
  for (int i = 0; i < 20000; ++i) trace.host_events.push_back({i, i + 1, HostKind::kRange, 0, 0});
  return trace;
}

TEST_F(Store, SavesWhatItCanOfAFileThatBreaksOff) {
  write_store(large_trace(), path_);
  const auto size = std::filesystem::file_size(path_);
  // At the end of a page, and inside one.
  for (const uint64_t bytes : {size - 4096, size - 100, size * 3 / 4, size * 3 / 4 + 100, size / 2}) {
    SCOPED_TRACE(bytes);
    std::filesystem::resize_file(path_, bytes);
    const Trace read = read_store(path_);
    EXPECT_GT(read.host_events.size(), 20'000 * bytes / size * 3 / 4);
    EXPECT_EQ(read.metadata.at("program"), "toy");
    const Doubt* doubt = find_doubt(read, "file", fmt::format("breaks off after {} of", bytes / 4096));
    ASSERT_NE(doubt, nullptr);
    EXPECT_EQ(doubt->severity, Severity::kLoss);
    for (const Doubt& row : read.doubts) EXPECT_NE(row.text, "");
    for (const HostEvent& event : read.host_events) EXPECT_LT(event.end - event.start, 1000);
  }
  std::filesystem::resize_file(path_, 1000);
  EXPECT_THROW(read_store(path_), Error);
}

TEST_F(Store, SavesTheTablesBeforeADamagedPlaceInTheirList) {
  write_store(large_trace(), path_);
  std::string bytes = base::read_file(path_);
  const size_t view = bytes.rfind("CREATE VIEW copies");
  ASSERT_NE(view, std::string::npos);
  bytes.replace(view, 6, "CRAETE");
  std::ofstream(path_, std::ios::binary) << bytes;
  const Trace read = read_store(path_);
  EXPECT_EQ(read.host_events.size(), 20'002U);
  EXPECT_NE(find_doubt(read, "file", "is damaged (malformed database schema"), nullptr);
}

TEST_F(Store, LeavesNoCopiesOfWhatItMended) {
  const std::filesystem::path temporary = folder_ / "temporary";
  std::filesystem::create_directories(temporary);
  setenv("TMPDIR", temporary.c_str(), 1);
  write_store(large_trace(), path_);
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 100);
  SqliteDatabase database = SqliteDatabase::open_read_only(path_);
  EXPECT_TRUE(std::filesystem::is_empty(temporary));
  EXPECT_GT(read_store(database).host_events.size(), 0U);
  unsetenv("TMPDIR");
}

TEST_F(Store, OpensFilesOfBeforeStepsHadPredecessors) {
  write_store(small_trace(), path_);
  SqliteDatabase::create(path_).execute(
      "ALTER TABLE model_steps DROP COLUMN predecessors; ALTER TABLE model_steps DROP COLUMN rivals");
  const Trace trace = read_store(path_);
  ASSERT_EQ(trace.model_steps.size(), 1U);
  EXPECT_EQ(trace.text(trace.model_steps[0].name), "conv1");
  EXPECT_EQ(trace.model_steps[0].flops, 2.5e9);
  EXPECT_EQ(trace.text(trace.model_steps[0].predecessors), "");
  EXPECT_EQ(trace.text(trace.model_steps[0].rivals), "");
  EXPECT_EQ(trace.doubts.size(), small_trace().doubts.size());
}

TEST_F(Store, LeavesNothingBehindWhereItCannotWrite) {
  EXPECT_THROW(write_store(small_trace(), folder_ / "missing" / "a.sqlite"), Error);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST(Normalize, DropsEventsWithoutTimeAndCountsThem) {
  Trace trace;
  trace.thread_index(1, 1);
  trace.host_events = {{5, 4}, {3, 9}, {3, 20}};
  trace.device_events = {{0, 0}, {7, 8}, {2, 3}};
  normalize(trace);
  ASSERT_EQ(trace.host_events.size(), 2U);
  EXPECT_EQ(trace.host_events[0].end, 20);  // the longer first, so that parents come before children
  ASSERT_EQ(trace.device_events.size(), 2U);
  EXPECT_EQ(trace.device_events[0].start, 2);
  ASSERT_EQ(trace.doubts.size(), 2U);
  EXPECT_EQ(trace.doubts[0].count, 1);
  const Span span = extent(trace);
  EXPECT_EQ(span.start, 2);
  EXPECT_EQ(span.end, 20);
}

TEST(Normalize, DropsTimesWhoseDifferencesWouldNotFit) {
  Trace trace;
  trace.thread_index(1, 1);
  const Time far = std::numeric_limits<Time>::max();
  trace.host_events = {{-far, 4}, {3, far}, {-kLatestTime, kLatestTime}};
  trace.allocations = {{far}, {7}};
  trace.counter_samples = {{-far}, {7}};
  normalize(trace);
  EXPECT_EQ(trace.host_events.size(), 1U);
  EXPECT_EQ(trace.allocations.size(), 1U);
  EXPECT_EQ(trace.counter_samples.size(), 1U);
  EXPECT_EQ(trace.doubts.size(), 3U);
}

}  // namespace
}  // namespace hone::trace
