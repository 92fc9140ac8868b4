// Checks of columns_to_image.hpp: blocks that overlap, leave gaps, and lie beyond the image.
#include "device/cuda/plugin/kernels/layers/columns_to_image.hpp"

#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

constexpr int kAxes = ColumnsToImage::kAxes;

/// Fills in the places of blocks that fit an image with as much padding behind as before.
ColumnsToImage placed(ColumnsToImage size) {
  for (int i = 0; i < kAxes; ++i) {
    const int64_t extent = (size.block[i] - 1) * size.dilations[i] + 1;
    size.places[i] = (size.image[i] + 2 * size.pads[i] - extent) / size.strides[i] + 1;
  }
  return size;
}

int64_t product(const int64_t (&values)[kAxes]) { return values[0] * values[1] * values[2]; }

void check_image(Family& family, FloatType type, const ColumnsToImage& size, const std::string& what) {
  const int64_t taps = product(size.block);
  const int64_t places = product(size.places);
  const int64_t pixels = product(size.image);
  const Values columns(size.planes * taps * places, type);
  Output y(size.planes * pixels, type);
  family.launched(columns_to_image(columns.get(), y.get(), type, size, {}), what);
  for (int64_t i = 0; i < size.planes * taps * places; ++i) {
    const int64_t tap = i / places % taps;
    const int64_t place = i % places;
    const int64_t tap_at[] = {tap / (size.block[1] * size.block[2]), tap / size.block[2] % size.block[1],
                              tap % size.block[2]};
    const int64_t place_at[] = {place / (size.places[1] * size.places[2]),
                                place / size.places[2] % size.places[1], place % size.places[2]};
    int64_t pixel = 0;
    bool inside = true;
    for (int axis = 0; axis < kAxes; ++axis) {
      const int64_t at =
          place_at[axis] * size.strides[axis] + tap_at[axis] * size.dilations[axis] - size.pads[axis];
      inside = inside && at >= 0 && at < size.image[axis];
      pixel = pixel * size.image[axis] + at;
    }
    if (inside) y[i / places / taps * pixels + pixel] += columns[i];
  }
  family.compare(y, kFloatRoundoff * static_cast<double>(taps), what);
}

}  // namespace

void check_columns_to_image() {
  Family family("columns to image");
  for (const FloatType type : kFloatTypes) {
    check_image(family, type,
                placed({.planes = 6, .image = {1, 16, 12}, .block = {1, 2, 2}, .strides = {1, 2, 2}}),
                "blocks side by side");
    check_image(family, type,
                placed({.planes = 3, .image = {1, 9, 7}, .block = {1, 3, 3}, .pads = {0, 1, 1}}),
                "blocks that overlap");
    check_image(family, type,
                placed({.planes = 2,
                        .image = {5, 11, 8},
                        .block = {2, 3, 2},
                        .strides = {1, 3, 2},
                        .dilations = {2, 2, 3},
                        .pads = {1, 0, 2}}),
                "blocks with holes");
    check_image(family, type,
                placed({.planes = 4, .image = {1, 1, 30}, .block = {1, 1, 4}, .strides = {1, 1, 7}}),
                "blocks apart");
  }
}

}  // namespace hone::device::cuda::check
