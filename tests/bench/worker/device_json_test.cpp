// The work of a device passes through the protocol whole, and impossible values are refused.
#include "bench/worker/device_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace hone::bench {
namespace {

using base::DeviceRecord;
using base::DeviceWork;
using testing::HasSubstr;

DeviceRecord made_record() {
  DeviceRecord record;
  record.device = {"NVIDIA H200", "GPU-1", 1, 150'000'000'000, 9, 0, 132, 32, 2048, 65536, 233'472, 32};
  record.texts = {"cudaGraphLaunch", "gemm", "conv1", "cudaMemcpyAsync"};
  record.calls = {{0, 7, 10, 20, false}, {3, 7, 30, 90, true}};
  record.launches = {{{1, 2, 3}, {4, 5, 6}, {2, 1, 1}, 64, 100, 200, 8, true}};
  record.nodes = {{2}};
  record.work = {{DeviceWork::Kind::kKernel, 1, 12, 19, 0, 0, 0, 0},
                 {DeviceWork::Kind::kCopyToHost, -1, 40, 80, 1, -1, -1, 4000}};
  record.notes = {"a note"};
  return record;
}

TEST(DeviceJson, ComesBackWhole) {
  const DeviceRecord record = made_record();
  const DeviceRecord back = parse_device_record(to_json(record));
  EXPECT_EQ(to_json(back), to_json(record));
  EXPECT_EQ(back.device.name, "NVIDIA H200");
  EXPECT_EQ(back.device.ordinal, 1);
  EXPECT_EQ(back.device.shared_bytes_per_multiprocessor, 233'472);
  ASSERT_EQ(back.work.size(), 2U);
  EXPECT_EQ(back.work[1].kind, DeviceWork::Kind::kCopyToHost);
  EXPECT_EQ(back.work[1].bytes, 4000);
  EXPECT_TRUE(back.calls[1].waits);
  EXPECT_EQ(back.launches[0].block[2], 6);
  EXPECT_TRUE(back.launches[0].programmatic);
}

TEST(DeviceJson, IsOfTheFirstGpuWhereAWorkerTellsNoNumber) {
  Json json = to_json(made_record());
  json["device"].erase("ordinal");
  EXPECT_EQ(parse_device_record(json).device.ordinal, 0);
}

std::string refusal(const std::string& field, const Json& row) {
  Json json = to_json(made_record());
  json[field] = Json::array({row});
  try {
    parse_device_record(json);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(DeviceJson, RefusesRowsThatAreNotThere) {
  EXPECT_THAT(refusal("calls", {9, 7, 10, 20, 0}), HasSubstr("'calls' names row 9 of 4"));
  EXPECT_THAT(refusal("nodes", Json::array({-1})), HasSubstr("'nodes' names row -1"));
  EXPECT_THAT(refusal("work", {0, -1, 12, 19, 0, 0, 0, 0}), HasSubstr("'work' names row -1"));
  EXPECT_THAT(refusal("work", {0, 1, 12, 19, 5, 0, 0, 0}), HasSubstr("'work' names row 5 of 2"));
  EXPECT_THAT(refusal("work", {0, 1, 12, 19, 0, 3, 0, 0}), HasSubstr("'work' names row 3 of 1"));
  EXPECT_THAT(refusal("work", {0, 1, 12, 19, 0, 0, 1, 0}), HasSubstr("'work' names row 1 of 1"));
  EXPECT_THAT(refusal("work", {5, 1, 12, 19, 0, 0, 0, 0}), HasSubstr("kind 5"));
  EXPECT_THAT(refusal("work", {0, 1, 12}), HasSubstr("'work' holds a row that is no list of 8"));
  EXPECT_THAT(refusal("launches", Json::array({1, 1, 1, 1, 1, 1, 1, 1, 1, 1LL << 40, 0, 0, 0, 0})),
              HasSubstr("'launches' holds 1099511627776"));
}

TEST(DeviceJson, NeedsItsFields) {
  for (const char* field : {"device", "texts", "calls", "work", "launches", "nodes", "notes"}) {
    Json json = to_json(made_record());
    json.erase(field);
    EXPECT_THROW(parse_device_record(json), Error) << field;
  }
}

}  // namespace
}  // namespace hone::bench
