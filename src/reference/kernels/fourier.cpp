// Reference kernels of DFT and STFT: the sum of the definition, without a fast algorithm.
#include "reference/kernels/fourier.hpp"

#include <cmath>
#include <complex>
#include <numbers>

#include "reference/strided.hpp"

namespace hone::reference {
namespace {

using Complex = std::complex<double>;

/// X[k] = sum of x[n] e^(-2 pi i k n / N), k < bins; the conjugate sum over N for the inverse.
std::vector<Complex> transform(const std::vector<Complex>& x, int64_t bins, bool inverse) {
  const auto length = static_cast<int64_t>(x.size());
  const double turn = (inverse ? 2 : -2) * std::numbers::pi / static_cast<double>(length);
  std::vector<Complex> roots;
  for (int64_t k = 0; k < length; ++k) roots.push_back(std::polar(1.0, turn * static_cast<double>(k)));
  std::vector<Complex> result;
  for (int64_t k = 0; k < bins; ++k) {
    Complex sum = 0;
    // The product k * n, reduced modulo the length to stay small.
    int64_t angle = 0;
    for (int64_t n = 0; n < length; ++n) {
      sum += x[static_cast<size_t>(n)] * roots[static_cast<size_t>(angle)];
      angle = (angle + k) % length;
    }
    result.push_back(inverse ? sum / static_cast<double>(length) : sum);
  }
  return result;
}

int64_t single(const KernelContext& context, size_t i) {
  const auto values = context.input(i).to_int64();
  if (values.size() != 1) fail_bad_input("input {} has {} elements, expected one", i, values.size());
  return values[0];
}

/// Elements of a signal whose last axis, of length 1 or 2, holds real and imaginary parts.
struct Signal {
  explicit Signal(const Tensor& x) : values(x.to_double()), parts(x.rank() == 0 ? 0 : x.shape().back()) {
    if (parts != 1 && parts != 2) fail_bad_input("the last axis has length {}, expected 1 or 2", parts);
  }
  Complex operator[](int64_t i) const {
    const auto at = static_cast<size_t>(i * parts);
    return {values[at], parts == 2 ? values[at + 1] : 0};
  }
  std::vector<double> values;
  int64_t parts;
};

int64_t bin_count(int64_t length, bool onesided) { return onesided ? length / 2 + 1 : length; }

}  // namespace

namespace {

/// The spectrum of a real signal of `length`, from its first half and its middle.
std::vector<Complex> whole_spectrum(const std::vector<Complex>& half, int64_t length) {
  std::vector<Complex> whole(static_cast<size_t>(length));
  for (int64_t k = 0; k < length; ++k) {
    const auto mirrored = static_cast<size_t>(length - k);
    const auto given = static_cast<size_t>(k);
    whole[given] = given < half.size() ? half[given] : std::conj(half[mirrored]);
    // These bins are their own mirror images.
    if (k == 0 || 2 * k == length) whole[given] = whole[given].real();
  }
  return whole;
}

}  // namespace

void dft(KernelContext& context) {
  const Tensor& x = context.input(0);
  const Signal signal(x);
  const int64_t axis = tensor::normalize_axis(context.has_input(2) ? single(context, 2) : -2, x.rank());
  if (axis == x.rank() - 1) fail_bad_input("axis {} holds real and imaginary parts", axis);
  const bool onesided = context.attributes().get_int("onesided") != 0;
  const bool inverse = context.attributes().get_int("inverse") != 0;
  const bool makes_real = onesided && inverse;
  if (onesided && !inverse && signal.parts == 2)
    fail_bad_input("a complex signal has no one-sided transform");
  const Shape positions(x.shape().begin(), x.shape().end() - 1);
  const AxisSplit split = split_at(positions, axis);
  const int64_t usual = makes_real ? 2 * (split.length - 1) : split.length;
  const int64_t length = context.has_input(1) ? single(context, 1) : usual;
  if (length < 1) fail_bad_input("the transform has length {}", length);
  const int64_t bins = bin_count(length, onesided && !inverse);
  const int64_t parts = makes_real ? 1 : 2;
  Shape shape = x.shape();
  shape[static_cast<size_t>(axis)] = bins;
  shape.back() = parts;
  Tensor y(DType::kFloat64, std::move(shape));
  const auto out = y.mutable_values<double>();
  // The part of an axis that is read: the whole axis, padded with zeros or cut to the length of the
  // transform.
  const int64_t taken = bin_count(length, makes_real);
  std::vector<Complex> row(static_cast<size_t>(y.size() == 0 ? 0 : taken));
  for (int64_t outer = 0; outer < split.outer; ++outer) {
    for (int64_t inner = 0; inner < split.inner; ++inner) {
      for (int64_t i = 0; i < taken; ++i) {
        const int64_t at = (outer * split.length + i) * split.inner + inner;
        row[static_cast<size_t>(i)] = i < split.length ? signal[at] : 0;
      }
      const auto result = transform(makes_real ? whole_spectrum(row, length) : row, bins, inverse);
      for (int64_t k = 0; k < bins; ++k) {
        const auto at = static_cast<size_t>(parts * ((outer * bins + k) * split.inner + inner));
        out[at] = result[static_cast<size_t>(k)].real();
        if (!makes_real) out[at + 1] = result[static_cast<size_t>(k)].imag();
      }
    }
  }
  context.outputs[0] = y.cast(x.dtype());
}

void stft(KernelContext& context) {
  const Tensor& x = context.input(0);
  if (x.rank() != 3) fail_bad_input("the signal has rank {}, expected 3", x.rank());
  const Signal signal(x);
  const int64_t step = single(context, 1);
  if (!context.has_input(2) && !context.has_input(3))
    fail_bad_input("there is neither a window nor a frame length");
  const int64_t length = context.has_input(3) ? single(context, 3) : context.input(2).size();
  const int64_t samples = x.shape()[1];
  if (step < 1 || length < 1 || length > samples) {
    fail_bad_input("frames of {} every {} samples of a signal of {}", length, step, samples);
  }
  std::vector<double> window(static_cast<size_t>(length), 1);
  if (context.has_input(2)) window = context.input(2).to_double();
  if (static_cast<int64_t>(window.size()) != length)
    fail_bad_input("a window of {} for frames of {}", window.size(), length);
  const bool onesided = context.attributes().get_int("onesided") != 0;
  if (onesided && signal.parts == 2) fail_bad_input("a complex signal has no one-sided transform");
  const int64_t bins = bin_count(length, onesided);
  const int64_t frames = (samples - length) / step + 1;
  Tensor y(DType::kFloat64, {x.shape()[0], frames, bins, 2});
  double* out = y.mutable_values<double>().data();
  std::vector<Complex> frame(window.size());
  for (int64_t batch = 0; batch < x.shape()[0]; ++batch) {
    for (int64_t f = 0; f < frames; ++f) {
      for (int64_t i = 0; i < length; ++i) {
        const auto n = static_cast<size_t>(i);
        frame[n] = signal[batch * samples + f * step + i] * window[n];
      }
      for (const Complex& bin : transform(frame, bins, false)) {
        *out++ = bin.real();
        *out++ = bin.imag();
      }
    }
  }
  context.outputs[0] = y.cast(x.dtype());
}

}  // namespace hone::reference
