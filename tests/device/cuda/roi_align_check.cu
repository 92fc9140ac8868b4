// Checks of roi_align.hpp on maps that are planes, whose averages are known, and on regions that lie outside.
#include "device/cuda/plugin/kernels/layers/roi_align.hpp"

#include <array>
#include <cmath>

#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

constexpr int64_t kImages = 2, kChannels = 3, kHeight = 16, kWidth = 20;

/// Interpolation between the pixels of a plane is exact: a bin has the plane's value at its centre.
double plane(int64_t image, int64_t channel, double row, double column) {
  return static_cast<double>(image + 1) * 0.25 + static_cast<double>(channel) * 0.5 + row / 64 - column / 128;
}

void check_regions(Family& family, FloatType type, int64_t ratio, bool half_pixel) {
  std::vector<double> map;
  for (int64_t i = 0; i < kImages * kChannels * kHeight * kWidth; ++i)
    map.push_back(plane(i / (kChannels * kHeight * kWidth), i / (kHeight * kWidth) % kChannels,
                        static_cast<double>(i / kWidth % kHeight), static_cast<double>(i % kWidth)));
  // In the map's pixels times four; the last two lie outside, and in an image that is not there.
  const std::vector<std::array<double, 4>> boxes = {
      {8, 12, 40, 44}, {20, 8, 60, 56}, {400, 400, 440, 440}, {8, 8, 16, 16}};
  const std::vector<int64_t> images = {0, 1, 0, 5};
  std::vector<double> coordinates;
  for (const auto& box : boxes) coordinates.insert(coordinates.end(), box.begin(), box.end());
  RoiAlign size{kImages, kChannels, kHeight, kWidth, static_cast<int64_t>(boxes.size()),
                2,       4,         ratio,   0.25f,  half_pixel};
  const Values x(map, type);
  const Values rois(coordinates, FloatType::kFloat);
  DeviceBuffer numbers(images.size() * sizeof(int64_t));
  numbers.upload(images.data());
  const int64_t bins = size.out_height * size.out_width;
  Output y(size.regions * kChannels * bins, type);
  family.launched(roi_align(x.get(), static_cast<const float*>(rois.get()),
                            static_cast<const int64_t*>(numbers.get()), y.get(), type, size, {}),
                  "regions");
  const double shift = half_pixel ? 0.5 : 0;
  for (int64_t i = 0; i < size.regions * kChannels * bins; ++i) {
    const int64_t region = i / (kChannels * bins);
    const auto& box = boxes[static_cast<size_t>(region)];
    const auto centre = [&](double first, double last, int64_t bin, int64_t count) {
      return first / 4 - shift +
             (last - first) / 4 * (static_cast<double>(bin) + 0.5) / static_cast<double>(count);
    };
    const double row = centre(box[1], box[3], i % bins / size.out_width, size.out_height);
    const double column = centre(box[0], box[2], i % size.out_width, size.out_width);
    y[i] = region == 2   ? 0
           : region == 3 ? std::nan("")
                         : plane(images[static_cast<size_t>(region)], i / bins % kChannels, row, column);
  }
  // Pixels are rounded to the type, and an average of them is off by as much at most.
  const double rounding = type == FloatType::kFloat ? 0x1p-24 : type == FloatType::kHalf ? 0x1p-11 : 0x1p-8;
  family.compare(y, kFloatRoundoff * 32 + 2 * rounding, "regions");
}

}  // namespace

void check_roi_align() {
  Family family("pools of regions");
  for (const FloatType type : kFloatTypes) {
    for (const int64_t ratio : {0, 2, 3}) {
      for (const bool half_pixel : {false, true}) check_regions(family, type, ratio, half_pixel);
    }
  }
}

}  // namespace hone::device::cuda::check
