// The probe of the CPU: rates that can be, whatever else the machine does.
#include "system/cpu_probe.hpp"

#include <gtest/gtest.h>

namespace hone::system {
namespace {

TEST(CpuProbe, MeasuresRatesThatCanBe) {
  const CpuRates rates = measure_cpu_rates(2);
  // A core of the last twenty years does more than one operation in ten cycles, and none a thousand in one.
  EXPECT_GT(rates.fp32, 1e8);
  EXPECT_LT(rates.fp32, 1e13);
  ASSERT_FALSE(rates.levels.empty());
  EXPECT_EQ(rates.levels.back().bytes, 0);
  EXPECT_GT(rates.levels.back().bytes_per_second, 1e7);
  for (size_t i = 1; i < rates.levels.size(); ++i) {
    EXPECT_GE(rates.levels[i - 1].bytes_per_second, rates.levels[i].bytes_per_second);
    if (rates.levels[i].bytes == 0) continue;
    EXPECT_LT(rates.levels[i - 1].bytes, rates.levels[i].bytes);
  }
}

}  // namespace
}  // namespace hone::system
