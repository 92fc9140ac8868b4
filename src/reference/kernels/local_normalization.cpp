// Reference kernels of the normalization family that normalize over neighbouring channels or along one axis.
#include <cmath>

#include "reference/kernels/parts.hpp"
#include "reference/strided.hpp"

namespace hone::reference {
namespace {

/// x / (bias + alpha / size * sum of squares over `size` neighbouring channels) ^ beta,
/// Krizhevsky et al. (2012).
void lrn(KernelContext& context) {
  const Tensor& x = context.input(0);
  if (x.rank() < 2) fail_bad_input("input of rank {} has no channels", x.rank());
  const int64_t size = context.attributes().get_int("size");
  if (size < 1) fail_bad_input("attribute 'size' is {}", size);
  const double alpha = context.attributes().get_float("alpha");
  const double beta = context.attributes().get_float("beta");
  const double bias = context.attributes().get_float("bias");
  const AxisSplit split = split_at(x.shape(), 1);
  const auto in = x.to_double();
  std::vector<double> out(in.size());
  const auto at = [&](int64_t n, int64_t c, int64_t i) {
    return static_cast<size_t>((n * split.length + c) * split.inner + i);
  };
  for (int64_t n = 0; n < split.outer; ++n) {
    for (int64_t c = 0; c < split.length; ++c) {
      const int64_t first = std::max<int64_t>(0, c - (size - 1) / 2);
      const int64_t last = std::min(split.length - 1, c + size / 2);
      for (int64_t i = 0; i < split.inner; ++i) {
        double sum = 0;
        for (int64_t k = first; k <= last; ++k) sum += in[at(n, k, i)] * in[at(n, k, i)];
        out[at(n, c, i)] = in[at(n, c, i)] / std::pow(bias + alpha / static_cast<double>(size) * sum, beta);
      }
    }
  }
  context.outputs[0] = Tensor::of(out, x.shape()).cast(x.dtype());
}

/// x divided by its p-norm along an axis; a row of zeros stays zero.
void lp_normalization(KernelContext& context) {
  const Tensor& x = context.input(0);
  const AxisSplit split =
      split_at(x.shape(), tensor::normalize_axis(context.attributes().get_int("axis"), x.rank()));
  const bool absolute = context.attributes().get_int("p") == 1;
  auto values = x.to_double();
  for (int64_t row = 0; row < split.outer * split.inner; ++row) {
    const int64_t first = row / split.inner * split.length * split.inner + row % split.inner;
    const auto at = [&](int64_t i) -> double& {
      return values[static_cast<size_t>(first + i * split.inner)];
    };
    double norm = 0;
    for (int64_t i = 0; i < split.length; ++i) norm += absolute ? std::abs(at(i)) : at(i) * at(i);
    if (!absolute) norm = std::sqrt(norm);
    for (int64_t i = 0; i < split.length && norm != 0; ++i) at(i) /= norm;
  }
  context.outputs[0] = Tensor::of(values, x.shape()).cast(x.dtype());
}

constexpr KernelEntry kKernels[] = {{"LRN", lrn}, {"LpNormalization", lp_normalization}};

}  // namespace

std::span<const KernelEntry> local_normalization_kernels() { return kKernels; }

}  // namespace hone::reference
