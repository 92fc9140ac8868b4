// The way in which the search measures the time of a step.
#include "engine/search/step_timer.hpp"

#include <gmock/gmock.h>
#include <omp.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

#include "device/cpu/cpu_device.hpp"
#include "engine/builder.hpp"
#include "engine/context.hpp"
#include "support/equivalence.hpp"

namespace hone::engine {
namespace {

using Clock = std::chrono::steady_clock;

/// Keeps the calling thread on the processor where it is, until the end of its life.
class Pinned {
 public:
  Pinned() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<size_t>(sched_getcpu()), &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  ~Pinned() { sched_setaffinity(0, sizeof before_, &before_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

 private:
  cpu_set_t before_{};
};

TEST(StepTimer, LeavesTurnsOfOtherProgramsOut) {
  test::GraphBuilder b;
  graph::ValueId y = b.input("x", {512, 1024});
  for (int i = 0; i < 4; ++i) y = b.node("MatMul", {y, b.random({1024, 1024})});
  const graph::Graph graph = b.finish({y});
  BuildOptions build;
  build.optimization_level = 0;
  build.threads = 1;
  const auto engine = build_engine(graph, device::cpu::cpu_device(), build);
  Context context(engine, device::cpu::cpu_device(), 1);
  StepTimer timer(*context.execution(std::vector<Shape>{{512, 1024}}));
  const auto inputs = test::random_inputs(graph, 1, 1);
  timer.sample(inputs);

  // A thread on the same processor takes every other turn.
  const Pinned pinned;
  std::atomic<bool> ends = false;
  std::thread other([&] {
    while (!ends) {
    }
  });
  const auto begin = Clock::now();
  constexpr int kRuns = 4;
  for (int i = 0; i < kRuns; ++i) timer.sample(inputs);
  const std::chrono::duration<double, std::micro> elapsed = Clock::now() - begin;
  ends = true;
  other.join();
  const auto& times = timer.total_times();
  const double timed = std::accumulate(times.end() - kRuns, times.end(), 0.0);
  EXPECT_GT(timed, 0);
  EXPECT_LT(timed, 0.75 * elapsed.count());
}

}  // namespace
}  // namespace hone::engine
