// Minimal filtering on the host: the transforms, the filters' form, what is refused.
#include "device/cuda/plugin/kernels/convolution/winograd.hpp"

#include <gtest/gtest.h>

#include <random>

#include "device/cuda/plugin/kernels/convolution/winograd_transforms.hpp"

namespace hone::device::cuda {
namespace {

std::vector<double> random_values(size_t count) {
  std::mt19937 generator(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> values(count);
  for (double& value : values) value = uniform(generator);
  return values;
}

template <int taps>
void expect_filters_a_row() {
  constexpr int kOutputs = 7 - taps;
  const std::vector<double> values = random_values(winograd::kPoints + taps);
  const double* const g = values.data() + winograd::kPoints;
  float d[winograd::kPoints];
  for (int i = 0; i < winograd::kPoints; ++i) d[i] = static_cast<float>(values[static_cast<size_t>(i)]);
  double u[winograd::kPoints];
  winograd::transform_filter(g, taps, 1, u);
  winograd::transform_input(d);
  float m[winograd::kPoints];
  for (int i = 0; i < winograd::kPoints; ++i) m[i] = d[i] * static_cast<float>(u[i]);
  float y[kOutputs];
  winograd::transform_output(m, y);
  for (int i = 0; i < kOutputs; ++i) {
    double expected = 0;
    for (int k = 0; k < taps; ++k) expected += values[static_cast<size_t>(i + k)] * g[k];
    EXPECT_NEAR(y[i], expected, 2e-6) << "output " << i << " of " << taps << " taps";
  }
}

TEST(Winograd, FiltersARow) {
  expect_filters_a_row<3>();
  expect_filters_a_row<5>();
}

TEST(Winograd, TransformsFiltersAlongBothAxes) {
  // A filter that is a product of two lines is transformed to the product of their transforms.
  const double row[] = {0.5, -1, 2};
  const double column[] = {3, 0.25, -0.75};
  const Winograd size{1, 2, 1, 8, 8, 8, 8, 1, 1, 3};
  std::vector<float> filter(2 * 9);  // the second channel's is zero
  for (int r = 0; r < 3; ++r) {
    for (int s = 0; s < 3; ++s)
      filter[static_cast<size_t>(r * 3 + s)] = static_cast<float>(column[r] * row[s]);
  }
  std::vector<float> transformed(static_cast<size_t>(size.filter_elements()));
  winograd_filter(size, filter.data(), transformed.data());
  double along_x[winograd::kPoints];
  double along_y[winograd::kPoints];
  winograd::transform_filter(row, 3, 1, along_x);
  winograd::transform_filter(column, 3, 1, along_y);
  for (size_t y = 0; y < 6; ++y) {
    for (size_t x = 0; x < 6; ++x) {
      EXPECT_NEAR(transformed[(y * 6 + x) * 2], along_y[y] * along_x[x], 1e-5);
      EXPECT_EQ(transformed[(y * 6 + x) * 2 + 1], 0.0f);
    }
  }
}

TEST(Winograd, CountsTilesAndBytes) {
  const Winograd size{2, 16, 32, 14, 14, 14, 14, 1, 1, 3};
  EXPECT_EQ(size.tiles(), 2 * 4 * 4);
  EXPECT_EQ(size.part_tiles(3), 11);
  EXPECT_EQ(size.image_bytes(1), 36 * 32 * 16 * 4);
  EXPECT_EQ(size.result_bytes(2), 36 * 16 * 32 * 4);
  const Winograd five{1, 16, 16, 27, 27, 27, 27, 2, 2, 5};
  EXPECT_EQ(five.tiles(), 14 * 14);
}

TEST(Winograd, TakesLargeImagesInParts) {
  constexpr int64_t kMegabyte = 1 << 20;
  // A layer of VGG-16, 32 images: 100,352 tiles of 18,432 bytes.
  const Winograd large{32, 64, 64, 224, 224, 224, 224, 1, 1, 3};
  EXPECT_EQ(winograd_parts(large, 128 * kMegabyte), 14);
  EXPECT_EQ(winograd_parts(large, 32 * kMegabyte), 56);
  EXPECT_EQ(winograd_parts({32, 64, 64, 14, 14, 14, 14, 1, 1, 3}, 32 * kMegabyte), 1);
  EXPECT_EQ(winograd_parts({1, 64, 64, 14, 14, 14, 14, 1, 1, 3}, 1), 16) << "no part is less than a tile";
}

TEST(Winograd, SaysWhyItRefuses) {
  EXPECT_EQ(winograd_refusal({1, 64, 64, 56, 56, 56, 56, 1, 1, 3}).text(), "");
  EXPECT_EQ(winograd_refusal({1, 4, 64, 3, 3, 3, 3, 1, 1, 3}).text(), "")
      << "small, but an engine may need it";
  EXPECT_EQ(winograd_refusal({1, 64, 64, 56, 56, 56, 56, 1, 1, 7}).text(),
            "its filters are not of 3 x 3 or 5 x 5");
  EXPECT_EQ(winograd_refusal({1, 64, 66, 56, 56, 56, 56, 1, 1, 3}).text(), "66 channels, no multiple of 4");
  EXPECT_EQ(winograd_refusal({4096, 512, 512, 224, 224, 224, 224, 1, 1, 3}).text(), "a huge image");
}

TEST(Winograd, SaysWhereItLoses) {
  EXPECT_EQ(winograd_loss({1, 64, 64, 56, 56, 56, 56, 1, 1, 3}).text(), "");
  EXPECT_EQ(winograd_loss({1, 12, 64, 56, 56, 56, 56, 1, 1, 3}).text(), "12 channels, fewer than 16");
  EXPECT_EQ(winograd_loss({1, 64, 64, 28, 28, 28, 28, 1, 1, 3}).text(), "49 tiles, fewer than 64");
}

}  // namespace
}  // namespace hone::device::cuda
