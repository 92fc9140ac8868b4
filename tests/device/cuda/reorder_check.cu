// Checks of reorder.hpp.
#include "device/cuda/plugin/kernels/layers/reorder.hpp"

#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

std::string text(const ImageSize& size) {
  return std::to_string(size.batch) + "x" + std::to_string(size.channels) + "x" + std::to_string(size.pixels);
}

int64_t position(const ImageSize& size, ImageOrder order, int64_t n, int64_t c, int64_t p) {
  return order == ImageOrder::kPlain ? (n * size.channels + c) * size.pixels + p
                                     : (n * size.pixels + p) * size.channels + c;
}

void check_orders(Family& family, const ImageSize& size, FloatType from, FloatType to, ImageOrder from_order,
                  ImageOrder to_order, size_t shift) {
  const int64_t count = size.batch * size.channels * size.pixels;
  const Values x(count, from, -2, 2, shift);
  Output y(count, to, shift);
  family.launched(reorder(x.get(), from, from_order, y.get(), to, to_order, size, {}), text(size));
  for (int64_t n = 0; n < size.batch; ++n) {
    for (int64_t c = 0; c < size.channels; ++c) {
      for (int64_t p = 0; p < size.pixels; ++p)
        y[position(size, to_order, n, c, p)] = rounded(x[position(size, from_order, n, c, p)], to);
    }
  }
  family.compare(y, 0, text(size));
}

void check_padding(Family& family, const ImageSize& size, FloatType from, FloatType to, int64_t padded) {
  const Values x(size.batch * size.channels * size.pixels, from);
  Output y(size.batch * padded * size.pixels, to);
  family.launched(reorder_padded(x.get(), from, y.get(), to, size, padded, {}), text(size));
  for (int64_t n = 0; n < size.batch; ++n) {
    for (int64_t p = 0; p < size.pixels; ++p) {
      for (int64_t c = 0; c < padded; ++c) {
        y[(n * size.pixels + p) * padded + c] =
            c < size.channels ? rounded(x[(n * size.channels + c) * size.pixels + p], to) : 0;
      }
    }
  }
  family.compare(y, 0, "padded " + text(size));
}

}  // namespace

void check_reorder() {
  Family family("reorder");
  const ImageSize sizes[] = {{1, 64, 49}, {2, 3, 35},  {3, 33, 65}, {1, 1, 7},  {2, 257, 1},
                             {0, 4, 4},   {2, 8, 100}, {1, 4, 600}, {1, 300, 5}};
  constexpr ImageOrder kOrders[] = {ImageOrder::kPlain, ImageOrder::kChannelsLast};
  for (const ImageSize& size : sizes) {
    for (const FloatType from : kFloatTypes) {
      for (const FloatType to : kFloatTypes) {
        for (const ImageOrder from_order : kOrders) {
          for (const ImageOrder to_order : kOrders) {
            check_orders(family, size, from, to, from_order, to_order, 0);
            check_orders(family, size, from, to, from_order, to_order, 4);
          }
        }
        check_padding(family, size, from, to, size.channels + (8 - size.channels % 8) % 8);
        check_padding(family, size, from, to, size.channels + 1);
      }
    }
  }
  for (const size_t bytes : {1, 2, 4, 8}) {
    constexpr int64_t kBatch = 2, kRows = 37, kColumns = 70;
    std::vector<unsigned char> in(kBatch * kRows * kColumns * bytes), out(in.size()), expected(in.size());
    for (unsigned char& byte : in) byte = static_cast<unsigned char>(generator()());
    DeviceBuffer from(in.size()), to(in.size());
    from.upload(in.data());
    family.launched(transpose_matrices(from.get(), to.get(), bytes, kBatch, kRows, kColumns, {}),
                    "transpose");
    to.download(out.data());
    for (int64_t i = 0; i < kBatch * kRows * kColumns; ++i) {
      const int64_t b = i / (kRows * kColumns), r = i / kColumns % kRows, c = i % kColumns;
      const auto target = static_cast<size_t>((b * kColumns + c) * kRows + r) * bytes;
      for (size_t k = 0; k < bytes; ++k) expected[target + k] = in[static_cast<size_t>(i) * bytes + k];
    }
    family.expect(out == expected, "transpose of " + std::to_string(bytes) + " bytes");
  }
}

}  // namespace hone::device::cuda::check
