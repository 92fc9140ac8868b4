// The roof of a CPU in a trace's metadata: what is written is read, and what cannot be is no roof.
#include "trace/cpu_roof.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::trace {
namespace {

using testing::HasSubstr;

CpuRoof roof() {
  CpuRoof roof;
  roof.threads = 2;
  roof.flops_per_second = {{"fp32", 100e9}, {"int8", 800e9}};
  roof.levels = {{1e6, 200e9}, {32e6, 80e9}, {0, 20e9}};
  return roof;
}

TEST(CpuRoof, IsReadAsItWasWritten) {
  Trace trace;
  EXPECT_FALSE(CpuRoof::of(trace).has_value());
  describe_roof(trace, roof());
  const auto read = CpuRoof::of(trace);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->threads, 2);
  EXPECT_EQ(read->flops_in("fp32"), 100e9);
  EXPECT_EQ(read->flops_in("int8+bf16"), 800e9);
  EXPECT_EQ(read->flops_in("bf16"), 0);
  EXPECT_EQ(read->levels.size(), 3);
}

TEST(CpuRoof, TakesTheMemoryThatHoldsTheBytes) {
  EXPECT_EQ(roof().bandwidth_for(1e5), 200e9);
  EXPECT_EQ(roof().bandwidth_for(2e6), 80e9);
  EXPECT_EQ(roof().bandwidth_for(1e9), 20e9);
  EXPECT_EQ(CpuRoof().bandwidth_for(1), 0);
}

TEST(CpuRoof, SaysWhatWasMeasured) {
  EXPECT_EQ(roof().text("fp32"),
            "measured on this CPU with 2 threads: 100 GFLOP/s in fp32, 20.00 GB/s from memory, 80.00 GB/s "
            "from caches of "
            "32.00 MB, 200.0 GB/s from caches of 1.000 MB");
  CpuRoof disturbed = roof();
  disturbed.other_share = 0.5;
  EXPECT_THAT(disturbed.text("fp32"), HasSubstr("other processes used 50.0 % of the CPU meanwhile"));
}

TEST(CpuRoof, OfNonsenseIsNone) {
  for (const char* text :
       {"", "{", "[]", "{}", "3", R"({"threads":0,"flops_per_second":{},"levels":[]})",
        R"({"threads":2,"flops_per_second":{"fp32":-1},"levels":[]})",
        R"({"threads":2,"flops_per_second":{"fp32":"much"},"levels":[]})",
        R"({"threads":2,"flops_per_second":{},"levels":[{"bytes":-1,"bytes_per_second":1}]})",
        R"({"threads":2,"flops_per_second":{},"levels":[7]})",
        R"({"threads":1e300,"flops_per_second":{},"levels":[]})"})
    EXPECT_FALSE(CpuRoof::parse(text).has_value()) << text;
}

}  // namespace
}  // namespace hone::trace
