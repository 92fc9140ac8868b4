// Checks of rotary.hpp.
#include "device/cuda/regions/rotary/plugin/kernels/rotary.hpp"

#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

int64_t row_of(const int64_t (&strides)[3], int64_t i, int64_t j, int64_t k) {
  return i * strides[0] + j * strides[1] + k * strides[2];
}

void check_rotation(Family& family, const RotarySize& size, int64_t tables) {
  const Values x(size.rows() * size.depth, size.type);
  const Values cosines(tables * size.depth, size.type), sines(tables * size.depth, size.type);
  Output y(size.rows() * size.depth, size.type);
  const std::string what = std::to_string(size.rows()) + " rows of " + std::to_string(size.depth);
  family.launched(rotate(size, x.get(), cosines.get(), sines.get(), y.get(), {.device = &gpu()}), what);
  const int64_t half = size.depth / 2;
  int64_t row = 0;
  for (int64_t i = 0; i < size.dims[0]; ++i) {
    for (int64_t j = 0; j < size.dims[1]; ++j) {
      for (int64_t k = 0; k < size.dims[2]; ++k, ++row) {
        for (int64_t c = 0; c < size.depth; ++c) {
          const int64_t at = row * size.depth + c;
          const double turned = c < half ? -x[at + half] : x[at - half];
          y[at] = x[at] * cosines[row_of(size.cosine_strides, i, j, k) + c] +
                  turned * sines[row_of(size.sine_strides, i, j, k) + c];
        }
      }
    }
  }
  // Two products of at most 1 and their sum.
  family.compare(y, kFloatRoundoff * 4, what);
}

}  // namespace

void check_rotary() {
  Family family("rotary positions");
  for (const FloatType type : kFloatTypes) {
    check_rotation(family, {type, {1, 14, 1}, 64, {}, {}}, 1);
    check_rotation(family, {type, {2, 3, 5}, 64, {0, 0, 64}, {5 * 64, 0, 64}}, 10);
    check_rotation(family, {type, {2, 300, 7}, 6, {300 * 6, 6, 0}, {0, 0, 6}}, 600);
    check_rotation(family, {type, {1, 1, 1}, 2, {}, {}}, 1);
  }
}

}  // namespace hone::device::cuda::check
