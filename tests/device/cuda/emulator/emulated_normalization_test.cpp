// Layer and RMS normalization on the emulator: rows that lanes hold in one run and in several, in part, and
// rows that no warp holds.
#include "device/cuda/emulator/emulated_kernels.hpp"
#include "device/cuda/plugin/kernels/layers/normalization.hpp"

namespace hone::device::cuda::emulated {
namespace {

constexpr float kEpsilon = 1e-3F;

enum class Kind { kLayer, kRootMeanSquare };

void expect_normalized(Element element, int64_t rows, int64_t columns, bool parameters,
                       Kind kind = Kind::kLayer) {
  const bool centers = kind == Kind::kLayer;
  SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
  const Tensor x(element, rows * columns, 4, 1);
  const Tensor scale(Element::kFloat, columns, 3, 2);
  const Tensor bias(Element::kFloat, columns, 3, 3);
  std::vector<double> expected;
  for (int64_t row = 0; row < rows; ++row) {
    const float* const from = x.values.data() + row * columns;
    double mean = 0;
    double variance = 0;
    for (int64_t i = 0; centers && i < columns; ++i) mean += from[i] / static_cast<double>(columns);
    for (int64_t i = 0; i < columns; ++i)
      variance += (from[i] - mean) * (from[i] - mean) / static_cast<double>(columns);
    for (int64_t i = 0; i < columns; ++i) {
      const double value = (from[i] - mean) / std::sqrt(variance + kEpsilon);
      expected.push_back(!parameters ? value : value * scale.values[i] + (centers ? bias.values[i] : 0));
    }
  }
  const FloatType type = element == Element::kHalf       ? FloatType::kHalf
                         : element == Element::kBFloat16 ? FloatType::kBfloat16
                                                         : FloatType::kFloat;
  expect_output(kFewSchedules, element, {rows, 1, 1, columns}, expected, 4, [&](Output& y) {
    emulator::busy_ahead(nullptr, 0);
    x.be_busy();
    y.be_busy();
    const LaunchOptions options{.device = &emulator::properties(), .pdl = true, .next_waits = true};
    const float* const scales = parameters ? scale.floats() : nullptr;
    const bool constants = columns % 3 == 0;
    if (!centers)
      return rms_normalization(x.get(), y.get(), type, scales, constants, kEpsilon, rows, columns, options);
    return layer_normalization(x.get(), y.get(), type, scales, parameters ? bias.floats() : nullptr,
                               constants, kEpsilon, rows, columns, options);
  });
}

TEST(EmulatedNormalization, TakesRowsThatAWarpHolds) {
  expect_normalized(Element::kHalf, 5, 768, true);
  expect_normalized(Element::kBFloat16, 3, 264, true);
  expect_normalized(Element::kFloat, 3, 1024, true);
  expect_normalized(Element::kHalf, 2, 8, false);
  expect_normalized(Element::kHalf, 4097, 264, true);
}

TEST(EmulatedNormalization, TakesRowsThatABlockHolds) {
  expect_normalized(Element::kHalf, 3, 2056, true);
  expect_normalized(Element::kFloat, 2, 4092, true);
}

TEST(EmulatedNormalization, LeavesTheMeanWhereSquaresAloneCount) {
  expect_normalized(Element::kHalf, 5, 896, true, Kind::kRootMeanSquare);
  expect_normalized(Element::kBFloat16, 3, 264, true, Kind::kRootMeanSquare);
  expect_normalized(Element::kHalf, 3, 2056, true, Kind::kRootMeanSquare);
  expect_normalized(Element::kFloat, 2, 30, true, Kind::kRootMeanSquare);
}

TEST(EmulatedNormalization, TakesRowsThatEndWithinARun) { expect_normalized(Element::kFloat, 2, 30, true); }

}  // namespace
}  // namespace hone::device::cuda::emulated
