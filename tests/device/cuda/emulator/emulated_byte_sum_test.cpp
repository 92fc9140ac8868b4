// Two products of bytes in one kernel on the emulator: bit by bit what the two products give one after the
// other.
#include "device/cuda/emulator/byte_case.hpp"
#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm_params.hpp"
#include "device/cuda/plugin/kernels/gemm/bytes/byte_sum.hpp"

namespace hone::device::cuda::emulated {
namespace {

const LaunchOptions kOptions = {.device = &emulator::properties(), .pdl = true};

/// Signs of both inputs, of the bytes between and of the result.
struct Signs {
  bool unsigned_first = false;
  bool unsigned_second = false;
  bool unsigned_between = false;
  bool unsigned_y = false;
};

/// Every other combination of them.
Signs signs_of(size_t number) {
  return {number % 2 != 0, number / 2 % 2 != 0, number / 4 % 2 != 0, number / 8 % 2 != 0};
}

void set_range(bool is_unsigned, int zero_point, ByteFinish& finish) {
  finish.unsigned_y = is_unsigned;
  finish.zero_point = zero_point;
  finish.low = static_cast<float>((is_unsigned ? 0 : -128) - zero_point);
  finish.high = finish.low + 255;
  finish.clamps = zero_point != 0;
}

struct SumCase {
  SumCase(const ConvProblem& p, const ConvProblem& q, const Signs& signs)
      : first(bytes(p, signs.unsigned_first), 3),
        second(bytes(q, signs.unsigned_second, ByteFunction::kAdd), 5) {
    set_range(signs.unsigned_between, 0, first.finish);
    set_range(signs.unsigned_y, 0, second.finish);
    // No powers of two: the order of operations has to be the same.
    for (float& scale : first.scales) scale *= 1.37F;
    for (float& scale : second.scales) scale *= 0.83F;
    second.finish.operand_unsigned = signs.unsigned_between;
    second.finish.operand_factor = 0.7F;
    second.finish.operand_offset = -4.25F;
  }

  ByteSum problem() const { return {first.problem, second.problem}; }
  size_t count() const {
    return static_cast<size_t>(second.problem.shape.rows()) *
           static_cast<size_t>(second.problem.shape.filters);
  }

  /// By two products.
  Memory apart() const {
    constexpr WarpgroupConfig kConfig{64, 64, 2, 1};
    emulator::set_schedule({});
    emulator::busy_ahead(nullptr, 0);
    Memory between(count());
    Memory y(count());
    EXPECT_EQ(launch_bytes(first.problem, kConfig, first.args(between.get()), kOptions), cudaSuccess);
    ByteArgs args = second.args(y.get());
    args.operand = between.get();
    EXPECT_EQ(launch_bytes(second.problem, kConfig, args, kOptions), cudaSuccess);
    EXPECT_EQ(emulator::take_faults(), "");
    return y;
  }

  ByteCase first;
  ByteCase second;
};

void expect_sum(const SumCase& test, const WarpgroupConfig& config,
                const std::vector<Schedule>& schedules = kFewSchedules) {
  SCOPED_TRACE(config.text());
  const Memory expected = test.apart();
  for (const Schedule& schedule : schedules) {
    SCOPED_TRACE(text(schedule));
    Memory y(test.count());
    emulator::set_schedule(schedule);
    emulator::busy_ahead(nullptr, 0);
    test.first.x.be_busy();
    test.second.x.be_busy();
    emulator::also_busy_ahead(y.get(), y.bytes());
    ByteSumArgs args{test.first.args(nullptr), test.second.args(y.get())};
    args.second.next_waits = true;
    ASSERT_EQ(launch_byte_sum(test.problem(), config, args, kOptions), cudaSuccess);
    ASSERT_EQ(emulator::take_faults(), "");
    ASSERT_TRUE(y.guards_are_whole());
    for (size_t i = 0; i < y.bytes(); ++i) {
      ASSERT_EQ(static_cast<int>(y.get()[i]), static_cast<int>(expected.get()[i]))
          << "pixel " << i / static_cast<size_t>(test.second.problem.shape.filters) << ", filter "
          << i % static_cast<size_t>(test.second.problem.shape.filters);
    }
  }
}

/// A projection of every second pixel of an image of 9 x 13, for one of 5 x 7.
ConvProblem projection(int channels, int filters) {
  ConvProblem p = problem(2, 9, channels, filters, 1, 2);
  p.width = 13;
  return p;
}

TEST(EmulatedByteSum, EveryKernelAddsItsFirstProduct) {
  size_t number = 0;
  for (const WarpgroupShape& shape : kWarpgroupShapes) {
    if (shape.tile_n < kFewestSumFilters) continue;
    for (int i = 0; i < 4; ++i, number += 5) {
      SumCase test(projection(80, 176), images(48, 176), signs_of(number));
      expect_sum(test, {shape.tile_m, shape.tile_n, 2, 1});
    }
  }
}

TEST(EmulatedByteSum, EitherProductMayHaveStridesAndWindows) {
  expect_sum(SumCase(projection(144, 80), images(32, 80, 3), signs_of(3)), {64, 64, 3, 1}, kAllSchedules);
  expect_sum(SumCase(images(32, 80, 3), projection(144, 80), signs_of(6)), {64, 128, 3, 1}, kAllSchedules);
}

// The ring is filled with stages of the first product alone, all of the first and some of the second, all of
// both.
TEST(EmulatedByteSum, TheRingMayEndInEitherProduct) {
  const SumCase test(projection(272, 64), images(400, 64), signs_of(9));  // 3 and 4 stages
  for (const int stages : {2, 3, 5, 7, 8}) expect_sum(test, {64, 64, stages, 1});
}

TEST(EmulatedByteSum, BoundsAndZeroPoints) {
  SumCase test(projection(32, 64), images(64, 64), signs_of(12));
  set_range(true, 100, test.first.finish);
  set_range(true, 7, test.second.finish);
  test.first.finish.low = -50;
  test.second.finish.low = 0;
  expect_sum(test, {128, 64, 2, 1});
  SumCase other(projection(32, 64), images(64, 64), signs_of(1));
  set_range(false, -20, other.first.finish);
  set_range(false, 30, other.second.finish);
  other.second.finish.high = 60;
  expect_sum(other, {64, 64, 2, 1});
}

TEST(EmulatedByteSum, TheSecondProductMayBeRoundedFirst) {
  for (const size_t number : {0, 5, 10, 15}) {
    SumCase test(projection(48, 96), images(64, 96), signs_of(number));
    test.second.finish.rounds_first = true;
    test.second.finish.first_low = -100;
    test.second.finish.first_high = 120;
    test.second.finish.first_factor = 0.3F;
    expect_sum(test, {64, 128, 2, 1});
  }
}

TEST(EmulatedByteSum, BlocksMakeTileAfterTile) {
  ConvProblem shortcut = projection(144, 160);
  shortcut.height = 119;
  ConvProblem main = images(272, 160);
  main.height = 60;
  const SumCase test(shortcut, main, signs_of(10));
  emulator::set_multiprocessors(1);
  expect_sum(test, {64, 64, 3, 1}, kAllSchedules);
  expect_sum(test, {128, 128, 4, 1});
  emulator::set_multiprocessors(132);
}

TEST(EmulatedByteSum, ConfigurationsAreValid) {
  const ByteSum sum{bytes(projection(64, 256)), bytes(images(64, 256), false, ByteFunction::kAdd)};
  const auto configs = byte_sum_configs(sum, emulator::properties());
  ASSERT_FALSE(configs.empty());
  for (const WarpgroupConfig& config : configs)
    EXPECT_FALSE(byte_sum_refusal(sum, config, emulator::properties())) << config.text();
}

TEST(EmulatedByteSum, WhatNoKernelDoesIsRefused) {
  const DeviceProperties& device = emulator::properties();
  const ByteProblem first = bytes(projection(64, 64));
  const ByteProblem second = bytes(images(64, 64), false, ByteFunction::kAdd);
  const auto refusal = [&](const ByteProblem& a, const ByteProblem& b) {
    EXPECT_TRUE(byte_sum_configs({a, b}, device).empty());
    return byte_sum_refusal({a, b}, device).text();
  };
  EXPECT_FALSE(byte_sum_refusal({first, second}, device));
  EXPECT_EQ(refusal(bytes(projection(72, 64)), second), "channels are no multiple of 16");
  EXPECT_EQ(refusal(second, second), "it is more than a product that adds another one");
  EXPECT_EQ(refusal(first, first), "it is more than a product that adds another one");
  EXPECT_EQ(refusal(first, bytes(images(64, 80), false, ByteFunction::kAdd)),
            "the results of both products differ");
  EXPECT_EQ(refusal(first, bytes(images(64, 64), false, ByteFunction::kAdd, ByteResult::kHalf)),
            "a result is no bytes");
  EXPECT_EQ(byte_sum_refusal({first, second}, {64, 32, 2, 1}, device).text(),
            "tiles of sums have more filters");
  EXPECT_EQ(byte_sum_refusal({first, second}, {64, 64, 2, 2}, device).text(),
            "the depth of bytes is not split");
}

}  // namespace
}  // namespace hone::device::cuda::emulated
