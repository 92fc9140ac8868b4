// Reference kernels of the signal family: windows and the mel filter bank; transforms are in fourier.cpp.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "reference/kernel_list.hpp"
#include "reference/kernels/fourier.hpp"
#include "reference/kernels/text.hpp"

namespace hone::reference {
namespace {

template <class T>
T single(const KernelContext& context, size_t i) {
  const Tensor x = context.input(i).cast(tensor::DTypeOf<T>::value);
  if (x.size() != 1) fail_bad_input("input {} has {} elements, expected one", i, x.size());
  return x.values<T>()[0];
}

DType output_type(const KernelContext& context) {
  return static_cast<DType>(context.attributes().get_int("output_datatype"));
}

/// a0 - a1 cos(2 pi i / N) + a2 cos(4 pi i / N), where N is the size, or one less if not periodic.
void cosine_window(KernelContext& context, double a0, double a1, double a2) {
  const auto size = single<int64_t>(context, 0);
  const bool periodic = context.attributes().get_int("periodic") != 0;
  const auto period = static_cast<double>(std::max<int64_t>(periodic ? size : size - 1, 1));
  Tensor y(DType::kFloat64, {size});
  for (int64_t i = 0; i < size; ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / period;
    y.mutable_values<double>()[static_cast<size_t>(i)] = a0 - a1 * std::cos(angle) + a2 * std::cos(2 * angle);
  }
  context.outputs[0] = y.cast(output_type(context));
}

void hann_window(KernelContext& context) { cosine_window(context, 0.5, 0.5, 0); }
void hamming_window(KernelContext& context) { cosine_window(context, 25.0 / 46, 21.0 / 46, 0); }
void blackman_window(KernelContext& context) { cosine_window(context, 0.42, 0.5, 0.08); }

double hertz_to_mel(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double mel_to_hertz(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }

/// Triangles between neighbouring edges, which are equally spaced in mel and rounded to bins as in the
/// operator's definition.
void mel_weight_matrix(KernelContext& context) {
  const auto mel_bins = single<int64_t>(context, 0);
  const auto length = single<int64_t>(context, 1);
  const auto rate = single<int64_t>(context, 2);
  if (mel_bins < 0 || length < 0 || rate <= 0) {
    fail_bad_input("{} mel bins of a transform of {} at {} Hz", mel_bins, length, rate);
  }
  const double low = hertz_to_mel(single<double>(context, 3));
  const double high = hertz_to_mel(single<double>(context, 4));
  const int64_t bins = length / 2 + 1;
  Tensor y(DType::kFloat64, {bins, mel_bins});
  const auto out = y.mutable_values<double>();
  for (double& element : out) element = 0;
  const double step = (high - low) / static_cast<double>(mel_bins + 2);
  const auto edge = [&](int64_t i) {
    const double hertz = mel_to_hertz(static_cast<double>(i) * step + low);
    const double bin = std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate));
    if (!(bin >= 0 && bin <= static_cast<double>(bins))) {
      fail_bad_input("a frequency of {} Hz is outside the transform's {} bins", hertz, bins);
    }
    return static_cast<int64_t>(bin);
  };
  const auto set = [&](int64_t bin, int64_t mel, double weight) {
    if (bin > length / 2) fail_bad_input("a filter reaches beyond the transform's {} bins", length / 2 + 1);
    out[static_cast<size_t>(bin * mel_bins + mel)] = weight;
  };
  for (int64_t i = 0; i < mel_bins; ++i) {
    const int64_t lower = edge(i);
    const int64_t centre = edge(i + 1);
    const int64_t upper = edge(i + 2);
    if (centre == lower) set(centre, i, 1);
    for (int64_t j = lower; j <= centre && centre > lower; ++j) {
      set(j, i, static_cast<double>(j - lower) / static_cast<double>(centre - lower));
    }
    for (int64_t j = centre; j < upper; ++j) {
      set(j, i, static_cast<double>(upper - j) / static_cast<double>(upper - centre));
    }
  }
  context.outputs[0] = y.cast(output_type(context));
}

constexpr KernelEntry kKernels[] = {
    {"BlackmanWindow", blackman_window},    {"DFT", dft},
    {"HammingWindow", hamming_window},      {"HannWindow", hann_window},
    {"MelWeightMatrix", mel_weight_matrix}, {"STFT", stft},
    {"TfIdfVectorizer", tf_idf_vectorizer},
};

}  // namespace

std::span<const KernelEntry> signal_kernels() { return kKernels; }

}  // namespace hone::reference
