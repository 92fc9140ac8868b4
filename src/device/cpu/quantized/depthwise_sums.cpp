// See sums_kernel.hpp: channels-last images of which each channel has a filter of its own.
#include <algorithm>

#include "device/cpu/clones.hpp"
#include "device/cpu/quantized/sums_kernel.hpp"
#include "device/cpu/ranges.hpp"

namespace hone::device::cpu {
namespace {

using tensor::DType;

/// Multiplications that are worth a second thread.
constexpr int64_t kWorthThreads = 1 << 16;

/// sums[i] += (a[i] - zero) * w[i].
template <class T>
HONE_INLINE void add_products(const T* __restrict a, int32_t zero, const int16_t* __restrict w,
                              int32_t* __restrict sums, int64_t n) {
  for (int64_t i = 0; i < n; ++i) sums[i] += (a[i] - zero) * w[i];
}
HONE_CLONES void add_tap(const uint8_t* a, int32_t zero, const int16_t* w, int32_t* sums, int64_t n) {
  add_products(a, zero, w, sums, n);
}
HONE_CLONES void add_tap(const int8_t* a, int32_t zero, const int16_t* w, int32_t* sums, int64_t n) {
  add_products(a, zero, w, sums, n);
}

class DepthwiseSumsKernel final : public SumsKernel {
 public:
  DepthwiseSumsKernel(SumsProblem problem, const BytePositions& at, Requantization requantization)
      : SumsKernel(std::move(problem), at, std::move(requantization)) {}

  void run(const engine::Run& run) const override {
    auto* const filters = static_cast<int16_t*>(run.scratch);
    auto* const starts =
        reinterpret_cast<int32_t*>(static_cast<std::byte*>(run.scratch) + aligned(taps() * channels() * 2));
    prepare(run, filters, starts);
    const int64_t pixels = problem_.convolution.batch * problem_.rows;
    const int32_t zero = a_zero(run);
    in_shares(pixels, threads_, problem_.multiplications() > kWorthThreads,
              [&](int64_t begin, int64_t end, int64_t thread) {
                auto* const sums = reinterpret_cast<int32_t*>(static_cast<std::byte*>(run.scratch) +
                                                              shared_bytes() + thread * thread_bytes());
                auto* const floats = reinterpret_cast<float*>(sums + channels());
                for (int64_t pixel = begin; pixel < end; ++pixel) {
                  std::copy_n(starts, channels(), sums);
                  if (problem_.a_type == DType::kUInt8) {
                    add_window(static_cast<const uint8_t*>(run.inputs[at_.a]), pixel, zero, filters, sums);
                  } else {
                    add_window(static_cast<const int8_t*>(run.inputs[at_.a]), pixel, zero, filters, sums);
                  }
                  store(run, pixel, 0, sums, channels(), floats);
                }
              });
  }

 private:
  int64_t channels() const { return problem_.convolution.out_channels; }
  int64_t taps() const { return problem_.inner; }
  int64_t shared_bytes() const override { return aligned(taps() * channels() * 2) + aligned(channels() * 4); }
  int64_t thread_bytes() const override { return aligned(channels() * 8); }

  /// Filters less their zero points, tap by tap, and the bias.
  void prepare(const engine::Run& run, int16_t* filters, int32_t* starts) const {
    for (int64_t c = 0; c < channels(); ++c) {
      starts[c] = bias(run, c);
      const int32_t zero = b_zero(run, c);
      for (int64_t tap = 0; tap < taps(); ++tap) {
        const int64_t at = c * taps() + tap;
        const int32_t weight = problem_.b_type == DType::kUInt8
                                   ? int32_t{static_cast<const uint8_t*>(run.inputs[at_.b])[at]}
                                   : int32_t{static_cast<const int8_t*>(run.inputs[at_.b])[at]};
        filters[tap * channels() + c] = static_cast<int16_t>(weight - zero);
      }
    }
  }

  template <class T>
  void add_window(const T* a, int64_t pixel, int32_t zero, const int16_t* filters, int32_t* sums) const {
    problem_.for_each_line(pixel % problem_.rows, [&](const SumsProblem::Line& line) {
      if (!line.is_inside) return;
      const int64_t row = (pixel / problem_.rows * problem_.lines() + line.index) * problem_.last().input;
      for (int64_t tap = 0; tap < line.taps; ++tap) {
        const int64_t x = line.x + tap;
        if (x < 0 || x >= problem_.last().input) continue;
        add_tap(a + (row + x) * channels(), zero, filters + (line.first_tap + tap) * channels(), sums,
                channels());
      }
    });
  }
};

}  // namespace

std::shared_ptr<const SumsKernel> make_depthwise_sums(SumsProblem problem, const BytePositions& at,
                                                      Requantization requantization) {
  return std::make_shared<DepthwiseSumsKernel>(std::move(problem), at, std::move(requantization));
}

}  // namespace hone::device::cpu
