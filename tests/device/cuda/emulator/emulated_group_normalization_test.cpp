// Normalization of large groups on the emulator: pieces of whole runs and others, channels that lie together
// and apart, numbers far from zero.
#include "device/cuda/emulator/emulated_kernels.hpp"
#include "device/cuda/plugin/kernels/layers/group_normalization.hpp"

namespace hone::device::cuda::emulated {
namespace {

int64_t position(const GroupNormalization& norm, int64_t n, int64_t c, int64_t pixel) {
  return norm.order == ImageOrder::kPlain ? (n * norm.channels + c) * norm.pixels + pixel
                                          : (n * norm.pixels + pixel) * norm.channels + c;
}

std::vector<double> normalized(const GroupNormalization& norm, const Tensor& x, const Tensor* scale,
                               const Tensor* bias) {
  std::vector<double> result(x.values.size());
  const int64_t members = norm.channels / norm.groups;
  for (int64_t group = 0; group < norm.batch * norm.groups; ++group) {
    const int64_t n = group / norm.groups;
    const int64_t first = group % norm.groups * members;
    const auto each = [&](const auto& visit) {
      for (int64_t i = 0; i < members * norm.pixels; ++i) {
        const int64_t c = first + i / norm.pixels;
        visit(static_cast<size_t>(position(norm, n, c, i % norm.pixels)), static_cast<size_t>(c));
      }
    };
    const auto count = static_cast<double>(members * norm.pixels);
    double mean = 0;
    double variance = 0;
    each([&](size_t at, size_t) { mean += x.values[at] / count; });
    each([&](size_t at, size_t) { variance += (x.values[at] - mean) * (x.values[at] - mean) / count; });
    each([&](size_t at, size_t c) {
      const double value = (x.values[at] - mean) / std::sqrt(variance + norm.epsilon);
      result[at] =
          value * (scale == nullptr ? 1 : scale->values[c]) + (bias == nullptr ? 0 : bias->values[c]);
    });
  }
  return result;
}

void expect_normalized(GroupNormalization norm, Element element, bool parameters, float shift = 0) {
  SCOPED_TRACE(std::to_string(norm.channels) + " channels of " + std::to_string(norm.pixels) + " pixels");
  norm.type = element == Element::kHalf       ? FloatType::kHalf
              : element == Element::kBFloat16 ? FloatType::kBfloat16
                                              : FloatType::kFloat;
  norm.epsilon = 1e-3F;
  std::vector<float> elements = Tensor(element, norm.batch * norm.channels * norm.pixels, 4, 1).values;
  for (float& value : elements) value += shift;
  const Tensor x(element, elements);
  const Tensor scale(Element::kFloat, norm.channels, 3, 2);
  const Tensor bias(Element::kFloat, norm.channels, 3, 3);
  const std::vector<double> expected =
      normalized(norm, x, parameters ? &scale : nullptr, parameters ? &bias : nullptr);
  Memory workspace(static_cast<size_t>(group_normalization_bytes(norm)));
  EXPECT_NE(group_normalization_bytes(norm), 0);
  expect_output(kFewSchedules, element, {norm.batch, norm.channels, 1, norm.pixels}, expected, 4,
                [&](cuda::emulated::Output& y) {
                  emulator::busy_ahead(nullptr, 0);
                  x.be_busy();
                  y.be_busy();
                  return group_normalization(norm, x.get(), y.get(), parameters ? scale.floats() : nullptr,
                                             parameters ? bias.floats() : nullptr, workspace.get(),
                                             {.pdl = true, .next_waits = true});
                });
}

TEST(EmulatedGroupNormalization, TakesChannelsThatLieTogether) {
  expect_normalized({.batch = 2, .channels = 6, .groups = 2, .pixels = 1400}, Element::kHalf, true);
  expect_normalized({.channels = 2, .groups = 2, .pixels = 4100}, Element::kFloat, false);
}

TEST(EmulatedGroupNormalization, TakesChannelsThatLieApart) {
  expect_normalized(
      {.order = ImageOrder::kChannelsLast, .batch = 2, .channels = 48, .groups = 3, .pixels = 301},
      Element::kBFloat16, true);
  expect_normalized({.order = ImageOrder::kChannelsLast, .channels = 16, .groups = 1, .pixels = 260},
                    Element::kHalf, false);
}

TEST(EmulatedGroupNormalization, KeepsSmallDifferencesOfLargeNumbers) {
  expect_normalized({.channels = 4, .groups = 2, .pixels = 2200}, Element::kHalf, true, 1024);
}

}  // namespace
}  // namespace hone::device::cuda::emulated
