// Reference kernels of the elementwise family: activations, Clip and Dropout.
#include "reference/activations.hpp"

#include <limits>

#include "reference/kernels/map.hpp"
#include "reference/kernels/parts.hpp"

namespace hone::reference {
namespace {

template <double (*f)(double)>
void unary(KernelContext& context) {
  map_double(context, f);
}

template <double (*f)(double, double)>
void with_alpha(KernelContext& context) {
  const double alpha = context.attributes().get_float("alpha");
  map_double(context, [&](double x) { return f(x, alpha); });
}

double softsign(double x) { return x / (1 + std::abs(x)); }

/// max(0, x) + min(0, alpha * (exp(x / alpha) - 1)), Barron (2017).
double celu(double x, double alpha) {
  return std::max(0.0, x) + std::min(0.0, alpha * std::expm1(x / alpha));
}

double thresholded_relu(double x, double alpha) { return x > alpha ? x : 0; }

void relu_kernel(KernelContext& context) {
  map_compute(context, [](auto x) -> decltype(x) { return x < 0 ? 0 : x; });
}

void gelu(KernelContext& context) {
  map_double(context, context.attributes().get_string("approximate") == "tanh" ? gelu_tanh : gelu_erf);
}

void hard_sigmoid_kernel(KernelContext& context) {
  const double alpha = context.attributes().get_float("alpha");
  const double beta = context.attributes().get_float("beta");
  map_double(context, [&](double x) { return hard_sigmoid(x, alpha, beta); });
}

void selu(KernelContext& context) {
  const double alpha = context.attributes().get_float("alpha");
  const double gamma = context.attributes().get_float("gamma");
  map_double(context, [&](double x) { return gamma * elu(x, alpha); });
}

void shrink(KernelContext& context) {
  const double bias = context.attributes().get_float("bias");
  const double lambda = context.attributes().get_float("lambd");
  map_double(context, [&](double x) { return x < -lambda ? x + bias : x > lambda ? x - bias : 0; });
}

void prelu(KernelContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& slope = context.input(1);
  tensor::broadcast_strides(slope.shape(), x.shape());  // throws if the slope is larger than the input
  context.outputs[0] = broadcast_compute(x, slope, [](auto a, auto b) { return a < 0 ? multiply(a, b) : a; });
}

void clip_kernel(KernelContext& context) {
  const DType dtype = context.input(0).dtype();
  visit_compute(dtype, [&]<class T>() {
    using Limits = std::numeric_limits<T>;
    const auto bound = [&](size_t i, T absent) {
      if (!context.has_input(i)) return absent;
      const Tensor value = context.input(i).cast(compute_dtype(dtype));
      if (value.size() != 1) fail_bad_input("input {} has {} elements, expected one", i, value.size());
      return value.values<T>()[0];
    };
    const T low = bound(1, Limits::has_infinity ? -Limits::infinity() : Limits::lowest());
    const T high = bound(2, Limits::has_infinity ? Limits::infinity() : Limits::max());
    const Tensor x = widened(context.input(0));
    Tensor y(x.dtype(), x.shape());
    for (size_t i = 0; i < y.mutable_values<T>().size(); ++i)
      y.mutable_values<T>()[i] = clip(x.values<T>()[i], low, high);
    context.outputs[0] = y.cast(dtype);
  });
}

/// Inference, or training with a drop rate of 0: random numbers have no reference.
void dropout(KernelContext& context) {
  const bool training = context.has_input(2) && context.input(2).to_int64().at(0) != 0;
  const double ratio = context.has_input(1) ? context.input(1).to_double().at(0) : 0.5;
  if (training && ratio != 0) fail_bad_input("dropout in training mode is random and not supported");
  const Tensor& x = context.input(0);
  context.outputs[0] = x;
  if (!context.node.has_output(1)) return;
  for (bool& kept : context.make_output(1, DType::kBool, x.shape()).mutable_values<bool>()) kept = true;
}

constexpr KernelEntry kKernels[] = {
    {"Celu", with_alpha<celu>},
    {"Clip", clip_kernel},
    {"Dropout", dropout},
    {"Elu", with_alpha<elu>},
    {"Gelu", gelu},
    {"HardSigmoid", hard_sigmoid_kernel},
    {"HardSwish", unary<hard_swish>},
    {"LeakyRelu", with_alpha<leaky_relu>},
    {"Mish", unary<mish>},
    {"PRelu", prelu},
    {"Relu", relu_kernel},
    {"Selu", selu},
    {"Shrink", shrink},
    {"Sigmoid", unary<sigmoid>},
    {"Softplus", unary<softplus>},
    {"Softsign", unary<softsign>},
    {"ThresholdedRelu", with_alpha<thresholded_relu>},
};

}  // namespace

std::span<const KernelEntry> activation_kernels() { return kKernels; }

}  // namespace hone::reference
