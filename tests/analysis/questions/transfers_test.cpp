// Copies against computing: times, bytes and rates by step, and who waits for whom.
#include "analysis/questions/transfers.hpp"

#include <gtest/gtest.h>

#include "support/random_trace.hpp"

namespace hone::analysis {
namespace {

using support::CopyDirection;
using support::TraceBuilder;

const Traffic& traffic(const Overlap& overlap, CopyDirection direction) {
  return overlap.directions.at(static_cast<size_t>(direction));
}

TEST(Transfers, DivideAStepBetweenLinkAndComputing) {
  TraceBuilder b;
  b.step("ProfilerStep#0", 0, 1000);
  b.copy(CopyDirection::kHostToDevice, 4000, 0, 200);
  b.kernel("a", 150, 500);
  b.copy(CopyDirection::kDeviceToHost, 600, 600, 700);
  b.copy(CopyDirection::kDeviceToDevice, 64, 690, 750);  // does not use the link
  b.set(64, 800, 810);
  const trace::Trace& trace = b.build();
  const TransferAnalysis analysis = analyze_transfers(trace, find_steps(trace));
  ASSERT_EQ(analysis.devices.size(), 1U);
  const Overlap& step = analysis.devices[0].steps.at(0);
  EXPECT_EQ(step.link, 300);
  EXPECT_EQ(step.compute, 350);
  EXPECT_EQ(step.both, 50);
  EXPECT_EQ(step.link_only(), 250);
  EXPECT_EQ(step.compute_only(), 300);
  EXPECT_EQ(step.other, 50 + 10);
  EXPECT_EQ(step.idle, 1000 - 250 - 300 - 50 - 60);
  EXPECT_EQ(step.hideable(), 250);
  EXPECT_DOUBLE_EQ(traffic(step, CopyDirection::kHostToDevice).rate(), 20e9);
  EXPECT_DOUBLE_EQ(traffic(step, CopyDirection::kDeviceToHost).rate(), 6e9);
  EXPECT_EQ(to_json(analysis)["devices"][0]["total"]["link_only_ns"], 250);
}

TEST(Transfers, ACopyAcrossStepsIsShared) {
  TraceBuilder b;
  b.step("0", 0, 100);
  b.step("1", 100, 200);
  b.copy(CopyDirection::kHostToDevice, 1000, 50, 150);
  b.copy(CopyDirection::kHostToDevice, 8, 120, 120);  // too short for the clock
  const trace::Trace& trace = b.build();
  const auto steps = analyze_transfers(trace, find_steps(trace)).devices.at(0).steps;
  EXPECT_EQ(traffic(steps[0], CopyDirection::kHostToDevice).copies, 1);
  EXPECT_EQ(traffic(steps[1], CopyDirection::kHostToDevice).copies, 1);
  EXPECT_DOUBLE_EQ(traffic(steps[0], CopyDirection::kHostToDevice).bytes, 500);
  EXPECT_DOUBLE_EQ(traffic(steps[1], CopyDirection::kHostToDevice).bytes, 508);
  EXPECT_DOUBLE_EQ(traffic(steps[0], CopyDirection::kHostToDevice).rate(), 10e9);
}

TEST(Transfers, ACopyAcrossManyStepsIsSharedByTheirLengths) {
  TraceBuilder b;
  for (Time start : {0, 100, 300, 310}) b.step("step", start, start == 100 ? 250 : start + 10);
  b.step("last", 400, 500);
  b.copy(CopyDirection::kDeviceToHost, 4500, 5, 455);
  const trace::Trace& trace = b.build();
  const auto steps = analyze_transfers(trace, find_steps(trace)).devices.at(0).steps;
  const std::vector<double> bytes = {50, 1500, 100, 100, 550};
  for (size_t i = 0; i < bytes.size(); ++i)
    EXPECT_NEAR(traffic(steps.at(i), CopyDirection::kDeviceToHost).bytes, bytes[i], 1e-9) << i;
}

TEST(Transfers, PartsOfRandomTracesAddUp) {
  base::Random random(7);
  for (int round = 0; round < 200; ++round) {
    const trace::Trace trace = support::random_trace(random, random.below(5));
    const TransferAnalysis analysis = analyze_transfers(trace, find_steps(trace));
    for (const DeviceTransfers& device : analysis.devices) {
      Time total = 0;
      for (const Overlap& step : device.steps) {
        EXPECT_EQ(step.link_only() + step.compute_only() + step.both + step.other + step.idle, step.length);
        for (const Time part : {step.link_only(), step.compute_only(), step.both, step.other, step.idle})
          EXPECT_GE(part, 0);
        total += step.length;
      }
      EXPECT_EQ(device.total.length, total);
      EXPECT_LE(device.hideable, device.total.hideable());
    }
  }
}

}  // namespace
}  // namespace hone::analysis
