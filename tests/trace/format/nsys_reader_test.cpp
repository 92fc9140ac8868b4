// Exports of Nsight Systems, new and old, become the rows of a trace; what they lack is said.
#include "trace/format/nsys_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/temporary_folder.hpp"
#include "trace/format/nsys_samples.hpp"
#include "trace/open.hpp"
#include "trace/sqlite.hpp"

namespace hone::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class NsysReader : public ::testing::Test {
 protected:
  Trace read(const std::string& sql) {
    const auto path = folder_.path() / fmt::format("{}.sqlite", ++files_);
    SqliteDatabase::create(path).execute("PRAGMA synchronous = OFF; BEGIN;" + sql + "; COMMIT");
    SqliteDatabase database = SqliteDatabase::open_read_only(path);
    EXPECT_TRUE(is_nsys_export(database));
    return read_nsys(database);
  }
  const HostEvent& find(const Trace& trace, std::string_view name) {
    for (const HostEvent& event : trace.host_events) {
      if (trace.text(event.name) == name) return event;
    }
    ADD_FAILURE() << name << " is missing";
    return none_;
  }
  static bool has_doubt(const Trace& trace, Severity severity, std::string_view part) {
    return std::any_of(trace.doubts.begin(), trace.doubts.end(), [&](const Doubt& doubt) {
      return doubt.severity == severity && (doubt.about + " " + doubt.text).find(part) != std::string::npos;
    });
  }
  base::TemporaryFolder folder_;
  HostEvent none_;
  int files_ = 0;
};

TEST_F(NsysReader, ReadsWhatGpusDid) {
  const Trace trace = read(kNsys2025);
  ASSERT_EQ(trace.device_events.size(), 4U);
  const DeviceEvent& kernel = trace.device_events[0];
  EXPECT_EQ(trace.text(kernel.name), "void gemm<float>(float*)");
  EXPECT_EQ(kernel.start, 2000);
  EXPECT_EQ(kernel.end, 2500);
  EXPECT_EQ(kernel.context, 1);
  EXPECT_EQ(kernel.stream, 7);
  EXPECT_EQ(kernel.correlation, 100);
  EXPECT_EQ(kernel.graph_node, kNone);
  const KernelLaunch& launch = trace.launches[static_cast<size_t>(kernel.detail)];
  EXPECT_THAT(launch.grid, ElementsAre(10, 2, 1));
  EXPECT_THAT(launch.block, ElementsAre(128, 1, 1));
  EXPECT_THAT(launch.cluster, ElementsAre(2, 1, 1));
  EXPECT_EQ(launch.registers_per_thread, 40);
  EXPECT_EQ(launch.static_shared_bytes, 1024);
  EXPECT_EQ(launch.dynamic_shared_bytes, 2048);
  EXPECT_EQ(launch.local_bytes_per_thread, 16);
  EXPECT_EQ(trace.text(trace.device_events[1].name), "gemm");
  EXPECT_EQ(trace.device_events[1].graph_node, 77);
  EXPECT_EQ(trace.device_events[1].graph, 5);
  EXPECT_EQ(trace.text(trace.device_events[2].name), "Memcpy HtoD (Pageable -> Device)");
  const Transfer& copy = trace.transfers[0];
  EXPECT_EQ(copy.bytes, 4096);
  EXPECT_EQ(copy.direction, CopyDirection::kHostToDevice);
  EXPECT_EQ(copy.source, MemoryKind::kPageable);
  EXPECT_TRUE(copy.asynchronous);
  EXPECT_EQ(trace.device_events[3].kind, DeviceKind::kSet);
  EXPECT_EQ(trace.transfers[1].destination, MemoryKind::kDevice);
}

TEST_F(NsysReader, ReadsWhatThreadsDid) {
  const Trace trace = read(kNsys2025);
  ASSERT_EQ(trace.threads.size(), 1U);
  EXPECT_EQ(trace.threads[0].process, 300);
  EXPECT_EQ(trace.threads[0].id, 301);
  EXPECT_EQ(trace.text(trace.threads[0].name), "worker");
  const HostEvent& launch = find(trace, "cudaLaunchKernel");
  EXPECT_EQ(launch.kind, HostKind::kRuntimeApi);
  EXPECT_EQ(launch.correlation, 100);
  EXPECT_EQ(find(trace, "cuLaunchKernelEx").kind, HostKind::kDriverApi);
  EXPECT_EQ(find(trace, "cuMemAlloc_v2").result, 2);
  EXPECT_EQ(find(trace, "Lazy Function Loading").kind, HostKind::kOverhead);
  EXPECT_EQ(find(trace, "forward").kind, HostKind::kRange);
  EXPECT_EQ(find(trace, "ProfilerStep#2").kind, HostKind::kStep);
  EXPECT_EQ(find(trace, "fits").end, 1050);
  EXPECT_EQ(trace.host_events.size(), 9U);  // neither the open range, nor the mark, nor the one that crosses
  EXPECT_TRUE(has_doubt(trace, Severity::kNote, "ranges did not end"));
  EXPECT_TRUE(has_doubt(trace, Severity::kNote, "ranges overlapped others"));
}

TEST_F(NsysReader, ReadsWaitsAndTheirEvents) {
  const Trace trace = read(kNsys2025);
  ASSERT_EQ(trace.synchronizations.size(), 2U);
  EXPECT_EQ(trace.synchronizations[0].kind, SyncKind::kStreamWaitEvent);
  EXPECT_EQ(trace.synchronizations[0].stream, 13);
  EXPECT_EQ(trace.synchronizations[0].event, 9);
  EXPECT_EQ(trace.synchronizations[0].event_record, 55);
  EXPECT_EQ(trace.synchronizations[1].kind, SyncKind::kContextSynchronize);
  EXPECT_EQ(trace.synchronizations[1].stream, kNone);
  EXPECT_EQ(trace.synchronizations[1].event_record, kNone);
  ASSERT_EQ(trace.event_records.size(), 2U);
  EXPECT_EQ(trace.event_records[0].id, 55);
  EXPECT_EQ(trace.event_records[0].correlation, 104);
  EXPECT_EQ(trace.event_records[0].completed, 2510);
  EXPECT_EQ(trace.event_records[1].completed, kNone);
  EXPECT_TRUE(has_doubt(trace, Severity::kNote, "waits of unknown kinds"));
}

TEST_F(NsysReader, ReadsTheMachineAndItsCounters) {
  const Trace trace = read(kNsys2025);
  EXPECT_EQ(trace.metadata.at("utc_epoch_ns"), "1711929600000000000");
  EXPECT_EQ(trace.metadata.at("EXPORT_SCHEMA_VERSION"), "3.25.0");
  ASSERT_EQ(trace.devices.size(), 1U);
  EXPECT_EQ(trace.devices[0].id, 0);  // as CUDA numbers it
  EXPECT_EQ(trace.text(trace.devices[0].name), "NVIDIA H200");
  EXPECT_EQ(trace.devices[0].threads_per_multiprocessor, 2048);
  EXPECT_EQ(trace.devices[0].blocks_per_multiprocessor, 32);
  ASSERT_EQ(trace.contexts.size(), 1U);
  EXPECT_EQ(trace.contexts[0].null_stream, 7);
  EXPECT_EQ(trace.contexts[0].process, 300);
  ASSERT_EQ(trace.streams.size(), 2U);
  EXPECT_EQ(trace.streams[0].kind, StreamKind::kNull);
  EXPECT_EQ(trace.streams[1].kind, StreamKind::kNonBlocking);
  EXPECT_EQ(trace.streams[1].priority, -5);
  ASSERT_EQ(trace.counter_samples.size(), 1U);
  EXPECT_EQ(trace.text(trace.counter_samples[0].counter), "SMs Active");
  EXPECT_EQ(trace.counter_units.at(trace.counter_samples[0].counter), "%");
  EXPECT_EQ(trace.counter_samples[0].value, 87);
  EXPECT_TRUE(has_doubt(trace, Severity::kLoss, "counters had no name"));
  ASSERT_EQ(trace.allocations.size(), 2U);
  EXPECT_EQ(trace.allocations[0].bytes, 512);
  EXPECT_EQ(trace.allocations[1].bytes, -512);
  EXPECT_TRUE(has_doubt(trace, Severity::kDoubt, "Not all events were collected."));
  EXPECT_FALSE(has_doubt(trace, Severity::kDoubt, "all is well"));
}

TEST_F(NsysReader, ReadsOldExportsAndSaysWhatTheyLack) {
  const Trace trace = read(kNsys2021);
  ASSERT_EQ(trace.device_events.size(), 3U);
  EXPECT_EQ(trace.text(trace.device_events[0].name), "gemm");
  EXPECT_THAT(trace.launches[0].cluster, ElementsAre(0, 0, 0));
  EXPECT_EQ(trace.text(trace.device_events[1].name), "Memcpy DtoH (Device -> Pinned)");
  EXPECT_EQ(trace.text(trace.device_events[2].name), "CUDA graph 5");
  ASSERT_EQ(trace.synchronizations.size(), 1U);
  EXPECT_EQ(trace.synchronizations[0].event_record, kNone);
  EXPECT_TRUE(has_doubt(trace, Severity::kNote,
                        "CUPTI_ACTIVITY_KIND_KERNEL this version of Nsight Systems does not "
                        "record: clusterX, clusterY, clusterZ, graphNodeId, graphId"));
  EXPECT_TRUE(has_doubt(trace, Severity::kNote, "eventSyncId"));
  EXPECT_TRUE(has_doubt(trace, Severity::kDoubt, "--cuda-graph-trace=node"));
  EXPECT_TRUE(has_doubt(trace, Severity::kDoubt, "--cuda-event-trace=true"));
  EXPECT_TRUE(has_doubt(trace, Severity::kLoss, "NVTX_EVENTS could not be read, as it lacks columns: end"));
  ASSERT_EQ(trace.contexts.size(), 1U);
  ASSERT_EQ(trace.streams.size(), 1U);
  EXPECT_EQ(trace.streams[0].kind, StreamKind::kUnknown);
}

TEST_F(NsysReader, KeepsIdsOfProcessesApart) {
  const Trace trace =
      read(std::string(kNsys2021) +
           "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (2100, 2600, 0, 1, 7, 100, 400 << 24, 2, 2, "
           "40, 1, 1, 1, 32, 1, 1, 0, 0, 0)");
  EXPECT_EQ(trace.device_events[0].correlation, 100);
  EXPECT_NE(trace.device_events[1].correlation, 100);
  EXPECT_EQ(trace.device_events[1].correlation & 0xff, 100);
  EXPECT_NE(trace.device_events[1].context, trace.device_events[0].context);
  EXPECT_EQ(trace.contexts.size(), 2U);
}

TEST_F(NsysReader, TakesWrongValuesForMissingOnes) {
  const Trace trace =
      read(std::string(kNsys2021) +
           "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = 1e300, demangledName = 999, "
           "correlationId = -7, deviceId = 99999999999; UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = "
           "77, srcKind = -1, dstKind = 9223372036854775807, start = 9223372036854775807");
  EXPECT_EQ(trace.launches[0].grid[0], 0);
  EXPECT_EQ(trace.text(trace.device_events[0].name), "");
  EXPECT_EQ(trace.device_events[0].correlation, kNone);
  EXPECT_EQ(trace.device_events[0].device, 0);
  EXPECT_EQ(trace.device_events.size(), 2U);  // the copy has no time that could be
  EXPECT_EQ(trace.transfers[0].direction, CopyDirection::kUnknown);
  EXPECT_EQ(trace.transfers[0].source, MemoryKind::kUnknown);
}

TEST_F(NsysReader, LeavesOutRowsWithTextForNumbers) {
  const Trace trace = read(std::string(kNsys2021) +
                           "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 'text'; UPDATE "
                           "CUPTI_ACTIVITY_KIND_MEMCPY SET bytes = x'00'");
  EXPECT_EQ(trace.device_events.size(), 1U);
  EXPECT_TRUE(has_doubt(trace, Severity::kLoss,
                        "CUPTI_ACTIVITY_KIND_KERNEL rows held values of another type and were left out"));
  EXPECT_TRUE(has_doubt(trace, Severity::kLoss, "CUPTI_ACTIVITY_KIND_MEMCPY rows held values"));
}

TEST_F(NsysReader, SavesWhatItCanOfADamagedFile) {
  const auto path = folder_.path() / "damaged.sqlite";
  SqliteDatabase database = SqliteDatabase::create(path);
  database.execute(std::string("PRAGMA synchronous = OFF;") + kNsys2021);
  database.execute(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO "
      "CUPTI_ACTIVITY_KIND_KERNEL SELECT i, i + 1, 0, 1, 7, i, 0, 2, 2, 40, 1, 1, 1, 32, 1, 1, 0, 0, 0 FROM "
      "n");
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const Trace trace = open_trace(path);
  EXPECT_TRUE(has_doubt(trace, Severity::kLoss, "CUPTI_ACTIVITY_KIND_KERNEL could not be read to the end"));
  EXPECT_TRUE(has_doubt(trace, Severity::kLoss, "file breaks off after"));
  EXPECT_GT(trace.device_events.size(), 5000U);
}

TEST_F(NsysReader, RefusesOtherDatabases) {
  const auto path = folder_.path() / "other.sqlite";
  SqliteDatabase::create(path).execute("CREATE TABLE StringIds (id INTEGER, value TEXT)");
  SqliteDatabase database = SqliteDatabase::open_read_only(path);
  EXPECT_FALSE(is_nsys_export(database));
  EXPECT_THROW(read_nsys(database), Error);
}

TEST_F(NsysReader, RefusesViewsWhichTakeAnyTime) {
  for (const char* table :
       {"StringIds", "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"}) {
    const auto path = folder_.path() / fmt::format("{}.sqlite", table);
    SqliteDatabase::create(path).execute(
        kNsys2021 +
        fmt::format(
            "DROP TABLE {0}; CREATE VIEW {0} AS WITH RECURSIVE r(start, end) AS (SELECT 1, 2 UNION ALL "
            "SELECT start + 1, end + 1 FROM r) SELECT * FROM r",
            table));
    try {
      open_trace(path);
      ADD_FAILURE() << table;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
      EXPECT_THAT(error.what(), HasSubstr(fmt::format("{} is no table of rows", table)));
    }
  }
}

}  // namespace
}  // namespace hone::trace
