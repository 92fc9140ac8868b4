// Reference kernels of the quantization family: the list, and conversions between floating-point and
// quantized tensors.
#include <algorithm>

#include "graph/scale_layout.hpp"
#include "reference/kernel_list.hpp"
#include "reference/kernels/quantization_family.hpp"
#include "tensor/convert.hpp"

namespace hone::reference {
namespace {

/// Zero points, one for each scale; zeros if input 2 is absent.
std::vector<double> read_zero_points(const KernelContext& context) {
  const Tensor& scale = context.input(1);
  if (!context.has_input(2)) return std::vector<double>(static_cast<size_t>(scale.size()), 0.0);
  const Tensor& zero_point = context.input(2);
  const bool single = zero_point.size() == 1 && scale.size() == 1;
  if (!single && zero_point.shape() != scale.shape()) {
    fail_bad_input("inputs 1 and 2 have shapes {} and {}", tensor::shape_text(scale.shape()),
                   tensor::shape_text(zero_point.shape()));
  }
  return zero_point.to_double();
}

DType quantized_type(const KernelContext& context) {
  if (context.has_input(2)) return context.input(2).dtype();
  const int64_t wanted = context.attributes().get_int("output_dtype");
  return wanted == 0 ? DType::kUInt8 : static_cast<DType>(wanted);
}

template <class F>
void visit_quantized(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kInt8: return f.template operator()<int8_t>();
    case DType::kUInt8: return f.template operator()<uint8_t>();
    case DType::kInt16: return f.template operator()<int16_t>();
    case DType::kUInt16: return f.template operator()<uint16_t>();
    default: fail_bad_input("quantization to {} is not supported", tensor::dtype_name(dtype));
  }
}

/// The quotient is rounded to float first, as in every implementation that stores floats.
void quantize_linear(KernelContext& context) {
  const Tensor& x = context.input(0);
  const graph::ScaleLayout layout(context.attributes(), x.shape(), context.input(1).shape());
  const std::vector<double> scales = context.input(1).to_double();
  const std::vector<double> zero_points = read_zero_points(context);
  const std::vector<double> values = x.to_double();
  Tensor& y = context.make_output(0, quantized_type(context), x.shape());
  visit_quantized(y.dtype(), [&]<class T>() {
    const auto out = y.mutable_values<T>();
    for (size_t i = 0; i < out.size(); ++i) {
      const auto k = static_cast<size_t>(layout.index(static_cast<int64_t>(i)));
      const float quotient = static_cast<float>(values[i]) / static_cast<float>(scales[k]);
      out[i] = quantize<T>(quotient, zero_points[k]);
    }
  });
}

void dequantize_linear(KernelContext& context) {
  const Tensor& x = context.input(0);
  const graph::ScaleLayout layout(context.attributes(), x.shape(), context.input(1).shape());
  const std::vector<double> scales = context.input(1).to_double();
  const std::vector<double> zero_points = read_zero_points(context);
  const std::vector<double> values = x.to_double();
  Tensor& y = context.make_output(0, context.input(1).dtype(), x.shape());
  tensor::visit_floating(y.dtype(), [&]<class T>() {
    const auto out = y.mutable_values<T>();
    for (size_t i = 0; i < out.size(); ++i) {
      const auto k = static_cast<size_t>(layout.index(static_cast<int64_t>(i)));
      out[i] = tensor::convert<T>((values[i] - zero_points[k]) * scales[k]);
    }
  });
}

/// The range is widened to include 0. If all values are zero, the range is empty and the scale is 1, to avoid
/// a division by 0.
void dynamic_quantize_linear(KernelContext& context) {
  const Tensor& x = context.input(0);
  const auto values = x.values<float>();
  float lowest = 0;
  float highest = 0;
  for (const float value : values) {
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
  }
  const float scale = highest > lowest ? (highest - lowest) / 255.0f : 1.0f;
  const auto zero_point = quantize<uint8_t>(-lowest / scale, 0);
  Tensor& y = context.make_output(0, DType::kUInt8, x.shape());
  const auto out = y.mutable_values<uint8_t>();
  for (size_t i = 0; i < out.size(); ++i) out[i] = quantize<uint8_t>(values[i] / scale, zero_point);
  context.outputs[1] = Tensor::scalar(scale);
  context.outputs[2] = Tensor::scalar(zero_point);
}

constexpr KernelEntry kKernels[] = {
    {"QuantizeLinear", quantize_linear},
    {"DequantizeLinear", dequantize_linear},
    {"DynamicQuantizeLinear", dynamic_quantize_linear},
    {"ConvInteger", conv_integer},
    {"QLinearConv", qlinear_conv},
    {"MatMulInteger", matmul_integer},
    {"QLinearMatMul", qlinear_matmul},
};

}  // namespace

std::span<const KernelEntry> quantization_kernels() { return kKernels; }

}  // namespace hone::reference
