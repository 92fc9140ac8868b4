// Products of bytes for tests on the emulator: operands with numbers at the ends of their ranges.
#pragma once

#include "device/cuda/conv_problems.hpp"
#include "device/cuda/emulator/emulated_kernels.hpp"
#include "device/cuda/plugin/kernels/gemm/bytes/byte_gemm.hpp"

namespace hone::device::cuda::emulated {

/// Bytes as a launch reads them, and their numbers.
class ByteTensor {
 public:
  /// Every seventh is the least or the largest number.
  ByteTensor(int64_t count, bool is_unsigned, unsigned seed)
      : is_unsigned_(is_unsigned), memory_(static_cast<size_t>(count)) {
    std::mt19937 random(seed);
    for (int64_t i = 0; i < count; ++i) {
      auto byte = static_cast<uint8_t>(random());
      if (random() % 7 == 0) byte = is_unsigned ? 255 : random() % 2 == 0 ? 0x80 : 0x7f;
      memory_.get()[i] = std::byte{byte};
    }
  }
  int operator[](int64_t i) const {
    const auto byte = static_cast<uint8_t>(memory_.get()[i]);
    return is_unsigned_ ? int{byte} : int{static_cast<int8_t>(byte)};
  }
  const void* get() const { return memory_.get(); }
  void be_busy() const { emulator::also_busy_ahead(memory_.get(), memory_.bytes()); }

 private:
  bool is_unsigned_;
  Memory memory_;
};

struct ByteCase {
  explicit ByteCase(const ByteProblem& p, unsigned seed = 1)
      : problem(p),
        x(int64_t{p.shape.batch} * p.shape.height * p.shape.width * p.shape.channels, p.unsigned_x, seed),
        w(p.shape.filters * p.shape.depth(), false, seed + 1),
        packed(static_cast<size_t>(byte_filters(p) * p.shape.depth())),
        scales(static_cast<size_t>(byte_scales(p))),
        bias(scales.size()) {
    std::memset(packed.get(), 0, packed.bytes());
    const int64_t depth = p.shape.depth();
    for (int64_t k = 0; k < p.shape.filters; ++k) {
      std::memcpy(packed.get() + byte_filter_place(k) * depth,
                  static_cast<const std::byte*>(w.get()) + k * depth, static_cast<size_t>(depth));
    }
    // Powers of two, so that what follows the sums is exact in float.
    for (int64_t k = 0; k < p.shape.filters; ++k) {
      scales[k] = std::ldexp(1.0F, -10 - static_cast<int>(k % 3));
      bias[k] = static_cast<float>(k % 5) - 2;
    }
  }

  ByteArgs args(void* y) const {
    ByteArgs args;
    args.x = x.get();
    args.w = packed.get();
    args.scales = scales.data();
    args.bias = bias.data();
    args.y = y;
    args.finish = finish;
    return args;
  }

  /// The value after all steps on the sums, but for functions.
  double finished(int64_t at, int64_t sum, double operand) const {
    const int64_t k = at % problem.shape.filters;
    double v = static_cast<double>(sum) * scales[k] + bias[k];
    if (finish.rounds_first)
      v = std::clamp(std::nearbyint(v), double{finish.first_low}, double{finish.first_high}) *
          finish.first_factor;
    v += operand;
    return finish.clamps ? std::clamp(v, double{finish.low}, double{finish.high}) : v;
  }

  ByteProblem problem;
  ByteTensor x;
  ByteTensor w;
  Memory packed;
  std::vector<float> scales;
  std::vector<float> bias;
  ByteFinish finish;
};

inline ByteProblem bytes(const ConvProblem& shape, bool unsigned_x = false,
                         ByteFunction function = ByteFunction::kBounds,
                         ByteResult result = ByteResult::kBytes) {
  return {shape, unsigned_x, result, function};
}

/// Two images of 5 x 7 pixels.
inline ConvProblem images(int channels, int filters, int kernel = 1, int stride = 1) {
  ConvProblem p = problem(2, 5, channels, filters, kernel, stride);
  p.width = 7;
  return p;
}

inline ByteFinish signed_bytes(float low = -128, float high = 127) {
  ByteFinish finish;
  finish.low = low;
  finish.high = high;
  return finish;
}

}  // namespace hone::device::cuda::emulated
