// The GEMM of bytes on the emulator: every kernel, signed and unsigned operands, windows, tiles and depths
// that are not full, numbers at the ends of their ranges.
#include <functional>

#include "device/cuda/emulator/byte_case.hpp"
#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm_params.hpp"

namespace hone::device::cuda::emulated {
namespace {

/// Sums of a convolution, as [pixel][filter].
std::vector<int64_t> sums_of(const ConvProblem& p, const ByteTensor& x, const ByteTensor& w) {
  std::vector<int64_t> sums;
  for (int64_t row = 0; row < p.rows(); ++row) {
    const int64_t column = row % p.out_width();
    const int64_t line = row / p.out_width() % p.out_height();
    const int64_t image = row / p.out_width() / p.out_height();
    for (int64_t k = 0; k < p.filters; ++k) {
      int64_t sum = 0;
      for (int64_t r = 0; r < p.kernel_h; ++r) {
        for (int64_t s = 0; s < p.kernel_w; ++s) {
          const int64_t y = line * p.stride_h - p.pad_top + r * p.dilation_h;
          const int64_t at = column * p.stride_w - p.pad_left + s * p.dilation_w;
          if (y < 0 || y >= p.height || at < 0 || at >= p.width) continue;
          for (int64_t c = 0; c < p.channels; ++c) {
            sum += int64_t{x[((image * p.height + y) * p.width + at) * p.channels + c]} *
                   w[((k * p.kernel_h + r) * p.kernel_w + s) * p.channels + c];
          }
        }
      }
      sums.push_back(sum);
    }
  }
  return sums;
}

/// Runs it with all schedules and compares bytes; `operand` may be null.
void expect_bytes(const ByteCase& test, const WarpgroupConfig& config, const ByteTensor* operand = nullptr,
                  const std::vector<Schedule>& schedules = kFewSchedules) {
  SCOPED_TRACE(config.text());
  const std::vector<int64_t> sums = sums_of(test.problem.shape, test.x, test.w);
  const bool is_unsigned = test.finish.unsigned_y;
  for (const Schedule& schedule : schedules) {
    SCOPED_TRACE(text(schedule));
    Memory y(sums.size());
    emulator::set_schedule(schedule);
    ByteArgs args = test.args(y.get());
    args.next_waits = true;
    emulator::busy_ahead(nullptr, 0);
    test.x.be_busy();
    emulator::also_busy_ahead(y.get(), y.bytes());
    if (operand != nullptr) {
      args.operand = operand->get();
      operand->be_busy();
    }
    ASSERT_EQ(launch_bytes(test.problem, config, args, {.device = &emulator::properties(), .pdl = true}),
              cudaSuccess);
    ASSERT_EQ(emulator::take_faults(), "");
    ASSERT_TRUE(y.guards_are_whole());
    for (size_t i = 0; i < sums.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      const double added = operand == nullptr ? 0
                                              : (*operand)[at] * double{test.finish.operand_factor} +
                                                    test.finish.operand_offset;
      const int wanted = std::clamp(
          static_cast<int>(std::nearbyint(test.finished(at, sums[i], added))) + test.finish.zero_point,
          is_unsigned ? 0 : -128, is_unsigned ? 255 : 127);
      const auto byte = static_cast<uint8_t>(y.get()[i]);
      ASSERT_EQ(is_unsigned ? int{byte} : int{static_cast<int8_t>(byte)}, wanted)
          << "pixel " << i / static_cast<size_t>(test.problem.shape.filters) << ", filter "
          << i % static_cast<size_t>(test.problem.shape.filters);
    }
  }
}

TEST(EmulatedBytes, EveryKernelBoundsItsSums) {
  for (const WarpgroupShape& shape : kWarpgroupShapes) {
    for (const bool is_unsigned : {false, true}) {
      ByteCase test(bytes(images(144, 80), is_unsigned));
      test.finish = signed_bytes(0, 100);
      expect_bytes(test, {shape.tile_m, shape.tile_n, 2, 1});
    }
  }
}

TEST(EmulatedBytes, EveryKernelAddsAndRoundsTwice) {
  for (const WarpgroupShape& shape : kWarpgroupShapes) {
    for (const bool is_unsigned : {false, true}) {
      const ConvProblem p = images(48, 160);
      ByteCase test(bytes(p, false, ByteFunction::kAdd));
      test.finish = signed_bytes();
      test.finish.operand_unsigned = is_unsigned;
      test.finish.operand_factor = 0.5F;
      test.finish.operand_offset = 3;
      test.finish.rounds_first = is_unsigned;
      test.finish.first_low = -100;
      test.finish.first_high = 120;
      test.finish.first_factor = 0.25F;
      const ByteTensor operand(p.rows() * p.filters, is_unsigned, 9);
      expect_bytes(test, {shape.tile_m, shape.tile_n, 2, 1}, &operand);
    }
  }
}

TEST(EmulatedBytes, WindowsWithPaddingAndStrides) {
  for (const int channels : {16, 128, 208}) {
    ByteCase test(bytes(images(channels, 48, 3, 2), channels == 16));
    test.finish = signed_bytes();
    expect_bytes(test, {64, 64, 3, 1}, nullptr, kAllSchedules);
  }
}

TEST(EmulatedBytes, StagesOf64Channels) {
  for (const WarpgroupShape& shape : kWarpgroupShapes) {
    ByteCase test(bytes(images(64, 80, 3), shape.tile_m == 128));
    test.finish = signed_bytes();
    expect_bytes(test, {shape.tile_m, shape.tile_n, 2, 1});
  }
}

TEST(EmulatedBytes, RoundingTwiceWithoutAnOperand) {
  ByteCase test(bytes(images(64, 32), false, ByteFunction::kAdd));
  test.finish = signed_bytes(-20, 20);
  test.finish.rounds_first = true;
  test.finish.first_low = -128;
  test.finish.first_high = 127;
  test.finish.first_factor = 0.5F;
  expect_bytes(test, {64, 32, 2, 1});
}

TEST(EmulatedBytes, ZeroPointsOfTheResult) {
  ByteCase test(bytes(images(32, 48)));
  test.finish = signed_bytes(-100, 155);
  test.finish.zero_point = 100;
  test.finish.unsigned_y = true;
  expect_bytes(test, {64, 64, 2, 1});
}

TEST(EmulatedBytes, WhatIsBeyondAByteBecomesItsEnd) {
  for (const bool is_unsigned : {false, true}) {
    ByteCase test(bytes(images(208, 48), true));
    test.finish.unsigned_y = is_unsigned;
    test.finish.clamps = false;
    for (float& scale : test.scales) scale *= 64;
    expect_bytes(test, {64, 64, 2, 1});
  }
}

TEST(EmulatedBytes, BlocksMakeTileAfterTile) {
  emulator::set_multiprocessors(1);
  ConvProblem p = images(144, 96);
  p.height = 60;
  ByteCase test(bytes(p, true, ByteFunction::kAdd));
  test.finish = signed_bytes(0, 127);
  const ByteTensor operand(p.rows() * p.filters, false, 4);
  expect_bytes(test, {64, 64, 3, 1}, &operand, kAllSchedules);
  emulator::set_multiprocessors(132);
}

/// Results of floats.
void expect_floats(const ByteCase& test, const WarpgroupConfig& config, Element element, bool adds) {
  SCOPED_TRACE(config.text());
  const ConvProblem& p = test.problem.shape;
  const std::vector<int64_t> sums = sums_of(p, test.x, test.w);
  const Tensor operand(element, adds ? p.rows() * p.filters : 0, 5, 3);
  std::vector<double> expected;
  for (size_t i = 0; i < sums.size(); ++i)
    expected.push_back(test.finished(static_cast<int64_t>(i), sums[i], adds ? operand.values[i] : 0));
  expect_output(kFewSchedules, element, result_extents(p), expected, 1, [&](Output& y) {
    ByteArgs args = test.args(y.get());
    if (adds) args.operand = operand.get();
    emulator::busy_ahead(nullptr, 0);
    test.x.be_busy();
    y.be_busy();
    return launch_bytes(test.problem, config, args, {.device = &emulator::properties(), .pdl = true});
  });
}

TEST(EmulatedBytes, ResultsOfFloats) {
  for (const WarpgroupShape& shape : kWarpgroupShapes) {
    const WarpgroupConfig config{shape.tile_m, shape.tile_n, 2, 1};
    expect_floats(ByteCase(bytes(images(80, 48), false, ByteFunction::kBounds, ByteResult::kFloat)), config,
                  Element::kFloat, false);
    expect_floats(ByteCase(bytes(images(80, 1), true, ByteFunction::kBounds, ByteResult::kHalf)), config,
                  Element::kHalf, false);
    expect_floats(ByteCase(bytes(images(80, 50), true, ByteFunction::kAdd, ByteResult::kHalf)), config,
                  Element::kHalf, true);
  }
}

/// Within one integer of the function in double.
void expect_function(ByteFunction function, const std::function<double(double)>& reference) {
  const ConvProblem p = images(64, 48);
  ByteCase test(bytes(p, false, function));
  test.finish = signed_bytes();
  for (float& scale : test.scales) scale /= 16;
  test.finish.factor = 20;
  const std::vector<int64_t> sums = sums_of(p, test.x, test.w);
  Memory y(sums.size());
  emulator::set_schedule({});
  emulator::busy_ahead(nullptr, 0);
  ASSERT_EQ(launch_bytes(test.problem, {64, 64, 2, 1}, test.args(y.get()),
                         {.device = &emulator::properties(), .pdl = true}),
            cudaSuccess);
  EXPECT_EQ(emulator::take_faults(), "");
  for (size_t i = 0; i < sums.size(); ++i) {
    const size_t k = i % static_cast<size_t>(p.filters);
    const double v = static_cast<double>(sums[i]) * test.scales[k] + test.bias[k];
    const double wanted = std::clamp(reference(v) * 20, -128.0, 127.0);
    EXPECT_NEAR(static_cast<int8_t>(y.get()[i]), wanted, 0.501) << v;
  }
}

TEST(EmulatedBytes, Functions) {
  expect_function(ByteFunction::kSwish, [](double v) { return v / (1 + std::exp(-v)); });
  expect_function(ByteFunction::kGelu, [](double v) { return 0.5 * v * std::erfc(-v / std::sqrt(2.0)); });
}

TEST(EmulatedBytes, WhatNoKernelDoesIsRefused) {
  const DeviceProperties& device = emulator::properties();
  EXPECT_FALSE(byte_refusal(bytes(images(64, 64)), device));
  EXPECT_EQ(byte_refusal(bytes(images(72, 64)), device).text(), "channels are no multiple of 16");
  EXPECT_EQ(byte_refusal(bytes(images(64, 72)), device).text(), "filters are no multiple of 16");
  EXPECT_FALSE(byte_refusal(bytes(images(64, 72), false, ByteFunction::kBounds, ByteResult::kFloat), device));
  EXPECT_EQ(
      byte_refusal(bytes(images(64, 64), false, ByteFunction::kSwish, ByteResult::kFloat), device).text(),
      "no kernel makes floats behind this function");
  DeviceProperties other = device;
  other.warpgroups = false;
  EXPECT_EQ(byte_refusal(bytes(images(64, 64)), other).text(), "it is for compute capability 9.0");
  EXPECT_EQ(byte_refusal(bytes(images(64, 64)), {64, 64, 2, 2}, device).text(),
            "the depth of bytes is not split");
}

}  // namespace
}  // namespace hone::device::cuda::emulated
