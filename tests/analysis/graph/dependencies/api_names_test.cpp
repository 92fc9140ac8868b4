// Names of API calls and overheads, in the spellings of all recorders.
#include "analysis/graph/dependencies/api_names.hpp"

#include <gtest/gtest.h>

namespace hone::analysis::dependencies {
namespace {

TEST(ApiNames, TellWhatCallsWaitFor) {
  EXPECT_EQ(api_role("cudaDeviceSynchronize"), ApiRole::kSynchronize);
  EXPECT_EQ(api_role("cudaStreamSynchronize_v3020"), ApiRole::kSynchronize);
  EXPECT_EQ(api_role("cudaStreamSynchronize_ptsz_v7000"), ApiRole::kSynchronize);
  EXPECT_EQ(api_role("cuEventSynchronize"), ApiRole::kSynchronize);
  EXPECT_EQ(api_role("cudaEventQuery"), ApiRole::kQuery);
  EXPECT_EQ(api_role("cuMemFree_v2"), ApiRole::kImplicit);
  EXPECT_EQ(api_role("cudaFree"), ApiRole::kImplicit);
  EXPECT_EQ(api_role("cudaFreeAsync_ptsz"), ApiRole::kOther);
  EXPECT_EQ(api_role("cudaLaunchKernel_v7000"), ApiRole::kOther);
  EXPECT_EQ(api_role("_v"), ApiRole::kOther);
  EXPECT_EQ(api_role(""), ApiRole::kOther);
}

TEST(ApiNames, TellTheProfilersWorkFromTheDrivers) {
  EXPECT_TRUE(is_queue_full("COMMAND_BUFFER_FULL"));
  EXPECT_TRUE(is_queue_full("Command Buffer Full"));
  EXPECT_FALSE(is_queue_full("Buffer Flush"));
  for (const char* name : {"Buffer Flush", "INSTRUMENTATION", "Resource", "Activity Buffer Request"})
    EXPECT_TRUE(is_profiler_overhead(name)) << name;
  for (const char* name : {"Command Buffer Full", "LAZY_FUNCTION_LOADING", "Runtime Triggered Module Loading",
                           "Driver Compiler", "UVM_ACTIVITY_INIT"})
    EXPECT_FALSE(is_profiler_overhead(name)) << name;
}

}  // namespace
}  // namespace hone::analysis::dependencies
