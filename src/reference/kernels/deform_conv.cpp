// Reference kernel of the convolution family: DeformConv, a convolution whose taps are moved by learned
// offsets, read by (multi)linear interpolation, and weighted by a mask.
//
// Sources: J. Dai et al., "Deformable Convolutional Networks", 2017; X. Zhu et al., "Deformable ConvNets v2",
// 2018; ONNX operator specification of DeformConv.
#include <cmath>

#include "reference/kernels/convolution_family.hpp"
#include "reference/kernels/rounding.hpp"
#include "reference/kernels/window_walk.hpp"

namespace hone::reference {
namespace {

using graph::WindowAxis;

/// Linear interpolation of a plane at a point from axis `k` on; 0 outside.
double interpolate(const double* plane, const std::vector<WindowAxis>& axes, const std::vector<double>& point,
                   size_t k, int64_t offset) {
  if (k == axes.size()) return plane[offset];
  const double first = std::floor(point[k]);
  double sum = 0;
  for (const double position : {first, first + 1}) {
    const double weight = 1 - std::abs(position - point[k]);
    if (!(position >= 0 && position < static_cast<double>(axes[k].input)) || weight == 0) continue;
    const int64_t at = offset * axes[k].input + static_cast<int64_t>(position);
    sum += weight * interpolate(plane, axes, point, k + 1, at);
  }
  return sum;
}

struct Deformation {
  graph::Convolution conv;
  int64_t offset_groups;
  int64_t taps;
  int64_t places = 1;
  int64_t plane = 1;
  std::vector<double> x;
  std::vector<double> offsets;
  std::vector<double> mask;  // empty: all ones

  explicit Deformation(const KernelContext& context);

  /// The value of every channel under every tap at one output position: [channels][taps].
  std::vector<double> columns(int64_t image, int64_t flat, const std::vector<int64_t>& output) const;
};

void expect_shape(const Tensor& tensor, size_t input, const Shape& shape) {
  if (tensor.shape() == shape) return;
  fail_bad_input("input {} has shape {}, expected {}", input, tensor::shape_text(tensor.shape()),
                 tensor::shape_text(shape));
}

Deformation::Deformation(const KernelContext& context)
    : conv(graph::read_convolution(context.attributes(), context.input(0).shape(), context.input(1).shape())),
      offset_groups(context.attributes().get_int("offset_group")),
      taps(conv.kernel_size()),
      x(context.input(0).to_double()),
      offsets(context.input(2).to_double()) {
  if (offset_groups < 1 || conv.in_channels % offset_groups != 0) {
    fail_bad_input("{} channels do not divide into {} offset groups", conv.in_channels, offset_groups);
  }
  Shape expected = conv.output_shape();
  expected[1] = offset_groups * taps * static_cast<int64_t>(conv.axes.size());
  expect_shape(context.input(2), 2, expected);
  expected[1] = offset_groups * taps;
  if (context.has_input(4)) {
    expect_shape(context.input(4), 4, expected);
    mask = context.input(4).to_double();
  }
  for (const WindowAxis& axis : conv.axes) {
    places *= axis.output;
    plane *= axis.input;
  }
}

std::vector<double> Deformation::columns(int64_t image, int64_t flat,
                                         const std::vector<int64_t>& output) const {
  const auto rank = static_cast<int64_t>(conv.axes.size());
  const int64_t group_channels = conv.in_channels / offset_groups;
  std::vector<graph::Range> ranges;
  for (const WindowAxis& axis : conv.axes) ranges.push_back({0, axis.kernel});
  std::vector<double> result(static_cast<size_t>(conv.in_channels * taps));
  std::vector<double> point(conv.axes.size());
  for (int64_t group = 0; group < offset_groups; ++group) {
    std::vector<int64_t> tap(conv.axes.size(), 0);
    for (int64_t t = 0; t < taps; ++t, next_index(tap, ranges)) {
      const int64_t row = (image * offset_groups + group) * taps + t;
      for (int64_t k = 0; k < rank; ++k) {
        const auto axis = static_cast<size_t>(k);
        point[axis] = static_cast<double>(conv.axes[axis].position(output[axis], tap[axis])) +
                      offsets[static_cast<size_t>((row * rank + k) * places + flat)];
      }
      const double weight = mask.empty() ? 1 : mask[static_cast<size_t>(row * places + flat)];
      for (int64_t c = group * group_channels; c < (group + 1) * group_channels; ++c) {
        const double* from = x.data() + (image * conv.in_channels + c) * plane;
        result[static_cast<size_t>(c * taps + t)] = weight * interpolate(from, conv.axes, point, 0, 0);
      }
    }
  }
  return result;
}

}  // namespace

void deform_conv(KernelContext& context) {
  const Deformation deformation(context);
  const graph::Convolution& conv = deformation.conv;
  Tensor& y = context.make_output(0, context.input(0).dtype(), conv.output_shape());
  const std::vector<double> w = context.input(1).to_double();
  std::vector<double> bias(static_cast<size_t>(conv.out_channels), 0.0);
  if (context.has_input(3)) {
    expect_shape(context.input(3), 3, {conv.out_channels});
    bias = context.input(3).to_double();
  }
  const int64_t row = conv.group_inputs() * deformation.taps;
  std::vector<double> result(static_cast<size_t>(y.size()));
  for (int64_t image = 0; image < conv.batch; ++image) {
    visit_outputs(conv.axes, [&](int64_t flat, const std::vector<int64_t>& output) {
      const std::vector<double> columns = deformation.columns(image, flat, output);
      for (int64_t m = 0; m < conv.out_channels; ++m) {
        const double* taken = columns.data() + m / conv.group_outputs() * row;
        double sum = bias[static_cast<size_t>(m)];
        for (int64_t i = 0; i < row; ++i) sum += w[static_cast<size_t>(m * row + i)] * taken[i];
        result[static_cast<size_t>((image * conv.out_channels + m) * deformation.places + flat)] = sum;
      }
    });
  }
  store_rounded(y, result);
}

}  // namespace hone::reference
