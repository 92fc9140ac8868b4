// Rows of metrics in the files of the collector: whole, short, damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "base/error.hpp"
#include "base/temporary_folder.hpp"
#include "trace/collect/metric_values.hpp"
#include "trace/collect/raw_reader.hpp"
#include "trace/collect/raw_records.hpp"
#include "trace/store.hpp"

namespace hone::trace {
namespace {

template <class Record>
void append(std::string& bytes, const Record& record) {
  bytes.append(reinterpret_cast<const char*>(&record), sizeof record);
}

void append_text(std::string& bytes, uint32_t id, std::string_view text) {
  raw::Text record;
  record.header.bytes = static_cast<uint16_t>(sizeof record + text.size());
  record.id = id;
  append(bytes, record);
  bytes += text;
}

raw::KernelMetric metric(uint64_t launch, double value) {
  raw::KernelMetric record;
  record.kernel = 1;
  record.launch = launch;
  record.value = value;
  record.metric = 2;
  record.range = 3;
  return record;
}

/// Texts and these records in one chunk.
std::string file_of(const std::vector<raw::KernelMetric>& records) {
  std::string chunk;
  append_text(chunk, 1, "_Z4gemmIfEvi");
  append_text(chunk, 2, "dram__bytes_read.sum");
  append_text(chunk, 3, "conv1");
  for (const raw::KernelMetric& record : records) append(chunk, record);
  std::string bytes(raw::kMagic.data(), raw::kMagic.size());
  raw::ChunkHeader header;
  header.bytes = static_cast<uint32_t>(chunk.size());
  append(bytes, header);
  return bytes + chunk;
}

class RawMetrics : public ::testing::Test {
 protected:
  Trace read(const std::string& bytes) const { return read_raw({folder_.write("7.honeraw", bytes)}); }

  base::TemporaryFolder folder_;
};

TEST_F(RawMetrics, ArriveWithTheirNamesAndInTheStore) {
  Trace trace = read(file_of({metric(0, 1.5), metric(1, 2.5)}));
  finish_metrics(trace, want_metrics({"dram_read_bytes"}));
  const std::filesystem::path path = folder_.path() / "a.trace.sqlite";
  write_store(trace, path);
  const Trace again = read_store(path);
  ASSERT_EQ(again.kernel_metrics.size(), 2U);
  const KernelMetric& row = again.kernel_metrics[1];
  EXPECT_EQ(again.text(row.kernel), "void gemm<float>(int)");
  EXPECT_EQ(again.text(row.range), "conv1");
  EXPECT_EQ(again.text(row.metric), "dram_read_bytes");
  EXPECT_EQ(again.text(row.unit), "B");
  EXPECT_EQ(row.launch, 1);
  EXPECT_EQ(row.value, 2.5);
}

TEST_F(RawMetrics, WithoutANumberAreLeftOutAndCounted) {
  const Trace trace = read(file_of({metric(0, std::numeric_limits<double>::quiet_NaN()), metric(1, 1)}));
  EXPECT_EQ(trace.kernel_metrics.size(), 1U);
  ASSERT_EQ(trace.doubts.size(), 1U);
  EXPECT_EQ(trace.doubts[0].about, "metrics");
}

TEST_F(RawMetrics, OfNamesThatNeverCameHaveNone) {
  raw::KernelMetric record = metric(std::numeric_limits<uint64_t>::max(), 1);
  record.kernel = record.metric = 99;
  const Trace trace = read(file_of({record}));
  ASSERT_EQ(trace.kernel_metrics.size(), 1U);
  EXPECT_EQ(trace.text(trace.kernel_metrics[0].kernel), "");
  EXPECT_GE(trace.kernel_metrics[0].launch, 0);
}

TEST_F(RawMetrics, DamagedFilesAreReadAsFarAsTheyGo) {
  const std::string whole = file_of({metric(0, 1), metric(1, 2), metric(2, 3)});
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    std::string bytes = whole.substr(0, i % 4 == 0 ? random() % whole.size() : whole.size());
    for (size_t k = 0; k < random() % 4 && !bytes.empty(); ++k)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    try {
      Trace trace = read(bytes);
      finish_metrics(trace, want_metrics({"dram_read_bytes", "ipc"}));
      for (const KernelMetric& row : trace.kernel_metrics) EXPECT_TRUE(std::isfinite(row.value));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    }
  }
}

}  // namespace
}  // namespace hone::trace
