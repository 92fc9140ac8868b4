// Reference kernels of the quantization family: convolutions and matrix products of 8-bit integers.
//
// Integer sums are kept in double, where they are exact: an 8-bit product is below 2^16, so 2^37 of them fit.
#include <algorithm>

#include "graph/convolution_geometry.hpp"
#include "graph/matmul_geometry.hpp"
#include "reference/kernels/convolution_core.hpp"
#include "reference/kernels/quantization_family.hpp"

namespace hone::reference {
namespace {

/// The low 32 bits of a sum: ONNX allows accumulation to overflow in 32 bits, and only there.
int32_t wrap(double sum) { return static_cast<int32_t>(static_cast<uint32_t>(static_cast<int64_t>(sum))); }

/// One value per channel from a tensor of one or `channels` elements; `fallback` if the input is absent.
std::vector<double> per_channel(const KernelContext& context, size_t input, int64_t channels,
                                double fallback) {
  const auto count = static_cast<size_t>(channels);
  if (!context.has_input(input)) return std::vector<double>(count, fallback);
  const Tensor& tensor = context.input(input);
  if (tensor.size() == 1) return std::vector<double>(count, tensor.to_double()[0]);
  if (tensor.rank() != 1 || tensor.size() != channels) {
    fail_bad_input("input {} has shape {}, expected one element or {}", input,
                   tensor::shape_text(tensor.shape()), channels);
  }
  return tensor.to_double();
}

double single(const KernelContext& context, size_t input, double fallback) {
  return per_channel(context, input, 1, fallback)[0];
}

/// The operands of an integer convolution after subtraction of their zero points.
struct IntegerConvolution {
  graph::Convolution geometry;
  std::vector<double> x;
  std::vector<double> w;

  IntegerConvolution(const KernelContext& context, size_t x_input, size_t x_zero, size_t w_input,
                     size_t w_zero)
      : geometry(graph::read_convolution(context.attributes(), context.input(x_input).shape(),
                                         context.input(w_input).shape())),
        x(context.input(x_input).to_double()),
        w(context.input(w_input).to_double()) {
    const double offset = single(context, x_zero, 0);
    for (double& value : x) value -= offset;
    const std::vector<double> offsets = per_channel(context, w_zero, geometry.out_channels, 0);
    const size_t filter = offsets.empty() ? 1 : std::max<size_t>(1, w.size() / offsets.size());
    for (size_t i = 0; i < w.size(); ++i) w[i] -= offsets[i / filter];
  }
};

/// Broadcasts a scale or zero point to a matrix operand. It is a scalar, a vector with one element per row or
/// column, or a tensor that broadcasts to the operand and does not vary along the summed axis.
std::vector<double> spread(const KernelContext& context, size_t input, const Tensor& operand, bool rows,
                           double fallback) {
  std::vector<double> result(static_cast<size_t>(operand.size()), fallback);
  if (!context.has_input(input)) return result;
  const Tensor& parameter = context.input(input);
  Shape shape = parameter.shape();
  if (shape.size() == 1 && shape[0] != 1 && rows) shape.push_back(1);
  const size_t summed_from_back = rows ? 1 : 2;
  if (shape.size() >= summed_from_back && shape[shape.size() - summed_from_back] != 1) {
    fail_bad_input("input {} has shape {}, which varies along the summed axis", input,
                   tensor::shape_text(parameter.shape()));
  }
  const Shape strides = tensor::broadcast_strides(shape, operand.shape());
  const Shape own = tensor::row_major_strides(operand.shape());
  const std::vector<double> values = parameter.to_double();
  for (size_t i = 0; i < result.size(); ++i) {
    int64_t index = 0;
    for (size_t axis = 0; axis < own.size(); ++axis) {
      index += static_cast<int64_t>(i) / own[axis] % operand.shape()[axis] * strides[axis];
    }
    result[i] = values[static_cast<size_t>(index)];
  }
  return result;
}

std::vector<double> without_zero_point(const KernelContext& context, size_t input, size_t zero_point,
                                       bool rows) {
  const Tensor& operand = context.input(input);
  std::vector<double> values = operand.to_double();
  const std::vector<double> offsets = spread(context, zero_point, operand, rows, 0);
  for (size_t i = 0; i < values.size(); ++i) values[i] -= offsets[i];
  return values;
}

/// Calls store(output index, index of a's row, index of b's column, sum) for every element of a product;
/// the indices address the first element of the row and of the column.
template <class Store>
void multiply(const graph::MatMulGeometry& geometry, const std::vector<double>& a,
              const std::vector<double>& b, Store&& store) {
  size_t output = 0;
  for (size_t matrix = 0; matrix < geometry.a_matrix.size(); ++matrix) {
    const int64_t a_first = geometry.a_matrix[matrix] * geometry.rows * geometry.inner;
    const int64_t b_first = geometry.b_matrix[matrix] * geometry.inner * geometry.columns;
    for (int64_t row = 0; row < geometry.rows; ++row) {
      for (int64_t column = 0; column < geometry.columns; ++column, ++output) {
        const int64_t a_at = a_first + row * geometry.inner;
        const int64_t b_at = b_first + column;
        double sum = 0;
        for (int64_t k = 0; k < geometry.inner; ++k) {
          sum += a[static_cast<size_t>(a_at + k)] * b[static_cast<size_t>(b_at + k * geometry.columns)];
        }
        store(output, static_cast<size_t>(a_at), static_cast<size_t>(b_at), sum);
      }
    }
  }
}

}  // namespace

void conv_integer(KernelContext& context) {
  const IntegerConvolution conv(context, 0, 2, 1, 3);
  Tensor& y = context.make_output(0, DType::kInt32, conv.geometry.output_shape());
  const auto out = y.mutable_values<int32_t>();
  convolve(conv.geometry, conv.x, conv.w, [&](int64_t image, int64_t channel, std::span<const double> plane) {
    int32_t* target =
        out.data() + (image * conv.geometry.out_channels + channel) * static_cast<int64_t>(plane.size());
    for (size_t i = 0; i < plane.size(); ++i) target[i] = wrap(plane[i]);
  });
}

void qlinear_conv(KernelContext& context) {
  const IntegerConvolution conv(context, 0, 2, 3, 5);
  const int64_t channels = conv.geometry.out_channels;
  const double x_scale = single(context, 1, 1);
  const double y_scale = single(context, 6, 1);
  const double zero_point = single(context, 7, 0);
  const std::vector<double> w_scales = per_channel(context, 4, channels, 1);
  const std::vector<double> bias = per_channel(context, 8, channels, 0);
  Tensor& y = context.make_output(0, context.input(7).dtype(), conv.geometry.output_shape());
  const auto run = [&]<class T>(std::span<T> out) {
    convolve(conv.geometry, conv.x, conv.w,
             [&](int64_t image, int64_t channel, std::span<const double> plane) {
               T* target = out.data() + (image * channels + channel) * static_cast<int64_t>(plane.size());
               const auto c = static_cast<size_t>(channel);
               const double scale = x_scale * w_scales[c] / y_scale;
               for (size_t i = 0; i < plane.size(); ++i)
                 target[i] = quantize<T>((plane[i] + bias[c]) * scale, zero_point);
             });
  };
  if (y.dtype() == DType::kInt8) return run(y.mutable_values<int8_t>());
  run(y.mutable_values<uint8_t>());
}

void matmul_integer(KernelContext& context) {
  const auto geometry = graph::read_matmul(context.input(0).shape(), context.input(1).shape());
  const std::vector<double> a = without_zero_point(context, 0, 2, true);
  const std::vector<double> b = without_zero_point(context, 1, 3, false);
  Tensor& y = context.make_output(0, DType::kInt32, geometry.output);
  const auto out = y.mutable_values<int32_t>();
  multiply(geometry, a, b, [&](size_t i, size_t, size_t, double sum) { out[i] = wrap(sum); });
}

void qlinear_matmul(KernelContext& context) {
  const Tensor& a = context.input(0);
  const Tensor& b = context.input(3);
  const auto geometry = graph::read_matmul(a.shape(), b.shape());
  const std::vector<double> a_scales = spread(context, 1, a, true, 1);
  const std::vector<double> b_scales = spread(context, 4, b, false, 1);
  const double y_scale = single(context, 6, 1);
  const double zero_point = single(context, 7, 0);
  Tensor& y = context.make_output(0, context.input(7).dtype(), geometry.output);
  const auto run = [&]<class T>(std::span<T> out) {
    multiply(geometry, without_zero_point(context, 0, 2, true), without_zero_point(context, 3, 5, false),
             [&](size_t i, size_t row, size_t column, double sum) {
               const double scale = geometry.inner == 0 ? 1 : a_scales[row] * b_scales[column] / y_scale;
               out[i] = quantize<T>(sum * scale, zero_point);
             });
  };
  if (y.dtype() == DType::kInt8) return run(y.mutable_values<int8_t>());
  run(y.mutable_values<uint8_t>());
}

}  // namespace hone::reference
