// Queues between stages, and what is made of the stages' times.
#include "task/stage.hpp"

#include <gtest/gtest.h>

namespace hone::task {
namespace {

TEST(BoundedQueue, KeepsOrderAndWaits) {
  BoundedQueue<int> queue(2);
  std::thread giver([&] {
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(queue.push(i));
    queue.close();
  });
  int wanted = 0;
  while (const auto item = queue.pop()) EXPECT_EQ(*item, wanted++);
  giver.join();
  EXPECT_EQ(wanted, 100);
}

TEST(BoundedQueue, TheOldestMakesRoomForLiveFrames) {
  BoundedQueue<int> queue(2);
  EXPECT_FALSE(queue.push_over(1));
  EXPECT_FALSE(queue.push_over(2));
  EXPECT_EQ(queue.push_over(3), 1);
  EXPECT_EQ(queue.pop(), 2);
  EXPECT_EQ(queue.pop(), 3);
}

TEST(BoundedQueue, NobodyWaitsAfterAFailure) {
  BoundedQueue<int> queue(1);
  ASSERT_TRUE(queue.push(1));
  std::thread giver([&] { EXPECT_FALSE(queue.push(2)); });
  queue.give_up();
  giver.join();
  EXPECT_EQ(queue.pop(), std::nullopt);
}

TEST(BoundedQueue, NothingIsKeptAfterAFailure) {
  BoundedQueue<int> queue(1);
  EXPECT_FALSE(queue.is_given_up());
  EXPECT_FALSE(queue.is_given_up_by(std::chrono::steady_clock::now()));
  queue.give_up();
  EXPECT_TRUE(queue.is_given_up());
  EXPECT_TRUE(queue.is_given_up_by(std::chrono::steady_clock::now() + std::chrono::hours(1)));
  EXPECT_EQ(queue.push_over(1), std::nullopt);
  EXPECT_EQ(queue.push_over(2), std::nullopt);
  EXPECT_EQ(queue.pop(), std::nullopt);
}

TEST(Lanes, KeepOrderHoweverLongEachTakes) {
  constexpr int kItems = 60;
  Lanes<int> in(3, 1);
  Lanes<int> out(3, 1);
  std::thread giver([&] {
    for (int i = 0; i < kItems; ++i) {
      EXPECT_EQ(in.turn(), static_cast<size_t>(i % 3));
      ASSERT_TRUE(in.push(i));
    }
    in.close();
  });
  std::vector<std::thread> workers;
  for (size_t lane = 0; lane < 3; ++lane)
    workers.emplace_back([&, lane] {
      while (const auto item = in.lane(lane).pop()) {
        // The first lane is the slowest.
        std::this_thread::sleep_for(std::chrono::microseconds(lane == 0 ? 500 : 10));
        ASSERT_TRUE(out.lane(lane).push(*item));
      }
      out.lane(lane).close();
    });
  int wanted = 0;
  while (const auto item = out.pop()) EXPECT_EQ(*item, wanted++);
  EXPECT_EQ(wanted, kItems);
  giver.join();
  for (std::thread& worker : workers) worker.join();
}

TEST(Lanes, NobodyWaitsAfterAFailure) {
  Lanes<int> lanes(2, 1);
  ASSERT_TRUE(lanes.push(1));
  ASSERT_TRUE(lanes.push(2));
  std::thread giver([&] { EXPECT_FALSE(lanes.push(3)); });
  lanes.give_up();
  giver.join();
  EXPECT_EQ(lanes.pop(), std::nullopt);
}

TEST(JudgeStages, StreamsOfAStageAreOneRow) {
  PipelineReport report;
  report.frames = 10;
  report.wall_seconds = 1;
  report.cpu_seconds_a_frame = 0.01;
  const std::vector<StageTimes> times{{"decode", std::vector<double>(10, 0.01), 0, 0},
                                      {"infer", std::vector<double>(5, 0.16), 0.1, 0},
                                      {"infer", std::vector<double>(5, 0.04), 0.3, 0.2}};
  judge_stages(times, 4, &report);
  ASSERT_EQ(report.stages.size(), 2u);
  const StageReport& infer = report.stages[1];
  // Ten frames took one second of two threads.
  EXPECT_NEAR(infer.rate, 20, 1e-9);
  EXPECT_NEAR(report.inference_fps, 20, 1e-9);
  EXPECT_NEAR(infer.utilisation, 0.5, 1e-9);
  EXPECT_NEAR(infer.waits_input, 0.2, 1e-9);
  EXPECT_NEAR(infer.waits_output, 0.1, 1e-9);
  EXPECT_EQ(report.bounded_by, "infer");
}

TEST(JudgeStages, TheSlowestStageBounds) {
  PipelineReport report;
  report.frames = 10;
  report.wall_seconds = 1;
  report.cpu_seconds_a_frame = 0.02;
  const std::vector<StageTimes> times{{"decode", std::vector<double>(10, 0.01), 0, 0.5},
                                      {"infer", std::vector<double>(10, 0.08), 0.1, 0}};
  judge_stages(times, 4, &report);
  EXPECT_NEAR(report.end_to_end_fps, 10, 1e-9);
  EXPECT_NEAR(report.inference_fps, 12.5, 1e-9);
  EXPECT_NEAR(report.processor_rate, 200, 1e-9);
  EXPECT_EQ(report.bounded_by, "infer");
  EXPECT_NEAR(report.bound, 12.5, 1e-9);
  EXPECT_NE(report.advice, "");
  EXPECT_NEAR(report.stages[0].waits_output, 0.5, 1e-9);
  EXPECT_NEAR(report.stages[1].utilisation, 0.8, 1e-9);
}

TEST(JudgeStages, TheProcessorBoundsWhereItsTimeIsShort) {
  PipelineReport report;
  report.frames = 10;
  report.wall_seconds = 1;
  report.cpu_seconds_a_frame = 0.19;
  judge_stages({{"infer", std::vector<double>(10, 0.08), 0, 0}}, 2, &report);
  EXPECT_EQ(report.bounded_by, "processor");
  EXPECT_NEAR(report.bound, 2 / 0.19, 1e-9);
}

}  // namespace
}  // namespace hone::task
