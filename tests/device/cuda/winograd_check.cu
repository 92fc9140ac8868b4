// Checks of winograd.hpp: both transforms, with products in double between them.
#include <cmath>

#include "device/cuda/plugin/kernels/convolution/winograd.hpp"
#include "kernels_check.hpp"
#include "post_op_check.hpp"

namespace hone::device::cuda::check {
namespace {

std::string text(const Winograd& size, int64_t parts) {
  return std::to_string(size.taps) + " taps, C" + std::to_string(size.channels) + " K" +
         std::to_string(size.filters) + " on " + std::to_string(size.batch) + "x" +
         std::to_string(size.height) + "x" + std::to_string(size.width) + " in " + std::to_string(parts);
}

double convolve(const Winograd& size, const Values& x, const Values& w, int64_t n, int64_t row,
                int64_t column, int64_t k) {
  double sum = 0;
  for (int64_t r = 0; r < size.taps; ++r) {
    for (int64_t s = 0; s < size.taps; ++s) {
      const int64_t y = row - size.pad_top + r;
      const int64_t at = column - size.pad_left + s;
      if (y < 0 || y >= size.height || at < 0 || at >= size.width) continue;
      for (int64_t c = 0; c < size.channels; ++c)
        sum += x[((n * size.height + y) * size.width + at) * size.channels + c] *
               w[((k * size.channels + c) * size.taps + r) * size.taps + s];
    }
  }
  return sum;
}

/// m [36][count][K] = v [36][count][C] * u [36][K][C], on the host.
std::vector<float> multiply(const Winograd& size, const std::vector<float>& v, const std::vector<float>& u,
                            int64_t count) {
  std::vector<float> m(static_cast<size_t>(Winograd::kProducts * count * size.filters));
  for (int64_t p = 0; p < Winograd::kProducts; ++p) {
    for (int64_t t = 0; t < count; ++t) {
      for (int64_t k = 0; k < size.filters; ++k) {
        const float* const a = v.data() + (p * count + t) * size.channels;
        const float* const b = u.data() + (p * size.filters + k) * size.channels;
        double sum = 0;
        for (int64_t c = 0; c < size.channels; ++c) sum += double{a[c]} * b[c];
        m[static_cast<size_t>((p * count + t) * size.filters + k)] = static_cast<float>(sum);
      }
    }
  }
  return m;
}

/// The zeros that stand for tiles behind the last one.
bool is_padded(const Winograd& size, const std::vector<float>& v, int64_t first, int64_t count) {
  for (int64_t p = 0; p < Winograd::kProducts; ++p) {
    for (int64_t t = size.tiles() - first; t < count; ++t) {
      for (int64_t c = 0; c < size.channels; ++c) {
        if (v[static_cast<size_t>((p * count + t) * size.channels + c)] != 0) return false;
      }
    }
  }
  return true;
}

void check_case(Family& family, const Winograd& size, int64_t parts, const std::vector<PostOpLink>& ops,
                bool has_bias = true) {
  const int64_t out_pixels = size.out_height * size.out_width;
  const Values x(size.batch * size.height * size.width * size.channels, FloatType::kFloat);
  const Values w(size.filters * size.channels * size.taps * size.taps, FloatType::kFloat);
  const Values bias(size.filters, FloatType::kFloat);
  PostOpCase post(ops, size.batch, size.filters, out_pixels, FloatType::kFloat);
  Output y(size.batch * out_pixels * size.filters, FloatType::kFloat);
  const std::vector<float> filter(w.host.begin(), w.host.end());
  std::vector<float> transformed(static_cast<size_t>(size.filter_elements()));
  winograd_filter(size, filter.data(), transformed.data());
  const int64_t count = size.part_tiles(parts);
  for (int64_t first = 0; first < size.tiles(); first += count) {
    DeviceBuffer v(static_cast<size_t>(size.image_bytes(parts)));
    family.launched(winograd_image(size, static_cast<const float*>(x.get()), first, count,
                                   static_cast<float*>(v.get()), {}),
                    text(size, parts));
    std::vector<float> image(v.bytes() / sizeof(float));
    v.download(image.data());
    family.expect(is_padded(size, image, first, count), text(size, parts) + ": a tile too many is not zero");
    const std::vector<float> products = multiply(size, image, transformed, count);
    DeviceBuffer m(products.size() * sizeof(float));
    m.upload(products.data());
    family.launched(winograd_result(size, static_cast<const float*>(m.get()), first, count,
                                    has_bias ? static_cast<const float*>(bias.get()) : nullptr, post.epilogue,
                                    static_cast<float*>(y.get()), {}),
                    text(size, parts));
    cudaDeviceSynchronize();  // the buffers go
  }
  for (int64_t i = 0; i < size.batch * out_pixels; ++i) {
    for (int64_t k = 0; k < size.filters; ++k) {
      const int64_t pixel = i % out_pixels;
      const double sum =
          convolve(size, x, w, i / out_pixels, pixel / size.out_width, pixel % size.out_width, k) +
          (has_bias ? bias[k] : 0);
      y[i * size.filters + k] = post.apply(sum, i / out_pixels, k, i * size.filters + k);
    }
  }
  // The transforms make roundings of random signs 8 times as large as in the direct sum of `terms`: the root
  // of the sums of squares of A, G and B along both axes. Ten times that for certain, and the post-ops' own.
  const auto terms = static_cast<double>(size.taps * size.taps * size.channels);
  family.compare(y, kFloatRoundoff * (80 * std::sqrt(terms) + 64), text(size, parts) + post.text());
}

Winograd image(int64_t batch, int64_t channels, int64_t filters, int64_t height, int64_t width, int taps,
               int64_t pad) {
  return {batch, channels, filters, height, width, height + 2 * pad - taps + 1, width + 2 * pad - taps + 1,
          pad,   pad,      taps};
}

}  // namespace

void check_winograd() {
  Family family("minimal filtering");
  for (const int taps : {3, 5}) {
    for (const int64_t parts : {1, 3, 7}) {
      check_case(family, image(3, 20, 24, 19, 23, taps, taps / 2), parts, {});
      check_case(family, image(2, 16, 36, 29, 33, taps, 0), parts, typical_post_ops());
    }
    for (const auto& ops : all_post_ops()) check_case(family, image(2, 16, 16, 24, 23, taps, 1), 2, ops);
  }
  // More padding at the end than at the beginning.
  Winograd uneven = image(1, 16, 16, 32, 32, 3, 0);
  uneven.out_height = uneven.out_width = 32;
  check_case(family, uneven, 1, {}, false);
  check_case(family, image(1, 16, 16, 5, 4, 3, 9), 1, {});
  check_case(family, image(1, 4, 4, 1, 1, 3, 1), 1, {}, false);
}

}  // namespace hone::device::cuda::check
