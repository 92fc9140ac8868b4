// Reference kernels of the convolution family: pooling over all spatial axes.
#include <algorithm>
#include <cmath>

#include "reference/kernels/convolution_family.hpp"
#include "tensor/convert.hpp"

namespace hone::reference {
namespace {

/// Reduces every plane [n, c, :] with `reduce(span<const double>) -> double`.
template <class Reduce>
void reduce_planes(KernelContext& context, Reduce&& reduce) {
  const Tensor& x = context.input(0);
  if (x.rank() < 3) fail_bad_input("input 0 has rank {}, expected at least 3", x.rank());
  Shape shape(x.shape().size(), 1);
  shape[0] = x.shape()[0];
  shape[1] = x.shape()[1];
  Tensor& y = context.make_output(0, x.dtype(), std::move(shape));
  const std::vector<double> in = x.to_double();
  const size_t plane = y.size() == 0 ? 0 : in.size() / static_cast<size_t>(y.size());
  tensor::visit_floating(x.dtype(), [&]<class T>() {
    const auto out = y.mutable_values<T>();
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = tensor::convert<T>(reduce(std::span(in).subspan(i * plane, plane)));
    }
  });
}

void refuse_empty_planes(const Tensor& x) {
  if (x.rank() < 3 || x.size() > 0 || x.shape()[0] == 0 || x.shape()[1] == 0) return;
  fail_bad_input("input 0 has empty planes");
}

}  // namespace

/// NaN for empty planes, as in ReduceMean.
void global_average_pool(KernelContext& context) {
  reduce_planes(context, [](std::span<const double> plane) {
    double sum = 0;
    for (const double value : plane) sum += value;
    return sum / static_cast<double>(plane.size());
  });
}

void global_max_pool(KernelContext& context) {
  refuse_empty_planes(context.input(0));
  reduce_planes(context, [](std::span<const double> plane) {
    double best = plane[0];
    for (const double value : plane) {
      if (value > best || std::isnan(value)) best = value;
    }
    return best;
  });
}

void global_lp_pool(KernelContext& context) {
  refuse_empty_planes(context.input(0));
  const auto p = static_cast<double>(context.attributes().get_int("p"));
  reduce_planes(context, [p](std::span<const double> plane) {
    double sum = 0;
    for (const double value : plane) sum += std::pow(std::abs(value), p);
    return std::pow(sum, 1 / p);
  });
}

}  // namespace hone::reference
