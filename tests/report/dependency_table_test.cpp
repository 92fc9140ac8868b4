// The table reads as that of nvprof, character by character.
#include "report/dependency_table.hpp"

#include <gtest/gtest.h>

#include "../analysis/program_trace.hpp"

namespace hone::report {
namespace {

using analysis::ProgramTrace;

TEST(DependencyTable, WritesTimesAsNvprofDid) {
  EXPECT_EQ(nvprof_time(0), "0ns");
  EXPECT_EQ(nvprof_time(999), "999ns");
  EXPECT_EQ(nvprof_time(1'000), "1.000000us");
  EXPECT_EQ(nvprof_time(53'900'904), "53.900904ms");
  EXPECT_EQ(nvprof_time(999'999'999), "999.999999ms");
  EXPECT_EQ(nvprof_time(1'483'397'000), "1.483397s");
  EXPECT_EQ(nvprof_time(25'000'000'000), "25.000000s");
}

/// The program of a published output of nvprof: two kernels in two streams, ten times, and managed memory.
/// Its times are those that nvprof gave; the gaps between them, which it does not tell, are the program's
/// own.
TEST(DependencyTable, OfAProgramThatNvprofAnalyzed) {
  ProgramTrace program;
  trace::Time now = 0;
  program.call("cudaMallocManaged_v6000", now, now + 300'000'000);
  program.call("cudaMallocManaged_v6000", now + 300'000'000, now + 369'095'123);
  now += 369'095'123;
  program.call("cuDeviceGetAttribute", now, now + 4'670'000);
  now += 4'670'000;
  for (int i = 0; i < 10; ++i) {
    now += 475'199'100;  // the program initializes its data
    const trace::Time kernel = now;
    const trace::Time end = kernel + 148'400'200;
    program.kernel(program.call("cudaLaunch", kernel, kernel + 20'000), "vec_inc1(float*, int)", kernel, end,
                   8);
    program.kernel(program.call("cudaLaunch", kernel + 30'000, kernel + 40'000), "vec_inc2(float*, int)",
                   kernel + 45'000, kernel + 45'000 + 128'559'000, 9);
    program.wait_for_device(kernel + 60'500, end);
    now = end;
  }
  program.call("cudaFree", now, now + 53'900'904);
  const std::string text = dependency_table(analysis::critical_path(program.finish()));
  EXPECT_EQ(text,
            "Critical path(%)  Critical path  Waiting time  Name                             Blame\n"
            "          71.31%      4.751991s           0ns  <Other>                      4.276792s\n"
            "          22.27%      1.484002s           0ns  vec_inc1(float*, int)        1.483397s\n"
            "           5.54%   369.095123ms           0ns  cudaMallocManaged_v6000            0ns\n"
            "           0.81%    53.900904ms           0ns  cudaFree                           0ns\n"
            "           0.07%     4.670000ms           0ns  cuDeviceGetAttribute               0ns\n"
            "           0.00%            0ns     1.483397s  cudaDeviceSynchronize              0ns\n"
            "           0.00%            0ns           0ns  cudaLaunch                         0ns\n"
            "           0.00%            0ns           0ns  vec_inc2(float*, int)        1.285435s\n");
}

}  // namespace
}  // namespace hone::report
