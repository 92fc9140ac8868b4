// Reference kernels of the convolution family: the list, Conv and ConvTranspose.
#include <string>

#include "reference/kernel_list.hpp"
#include "reference/kernels/convolution_core.hpp"
#include "reference/kernels/convolution_family.hpp"
#include "tensor/convert.hpp"

namespace hone::reference {
namespace {

/// Bias of every channel; zeros if input 2 is absent.
std::vector<double> read_bias(const KernelContext& context, int64_t channels) {
  if (!context.has_input(2)) return std::vector<double>(static_cast<size_t>(channels), 0.0);
  const Tensor& bias = context.input(2);
  if (bias.rank() != 1 || bias.size() != channels) {
    fail_bad_input("input 2 has shape {}, expected {}", tensor::shape_text(bias.shape()), channels);
  }
  return bias.to_double();
}

/// Adds the bias to every plane and writes it to output 0 in the output's type.
template <class Compute>
void run(KernelContext& context, Shape shape, Compute&& compute) {
  const std::vector<double> bias = read_bias(context, shape[1]);
  const int64_t channels = shape[1];
  Tensor& y = context.make_output(0, context.input(0).dtype(), std::move(shape));
  tensor::visit_floating(y.dtype(), [&]<class T>() {
    const auto out = y.mutable_values<T>();
    compute([&](int64_t image, int64_t channel, std::span<const double> plane) {
      T* target = out.data() + (image * channels + channel) * static_cast<int64_t>(plane.size());
      const double offset = bias[static_cast<size_t>(channel)];
      for (size_t i = 0; i < plane.size(); ++i) target[i] = tensor::convert<T>(plane[i] + offset);
    });
  });
}

constexpr KernelEntry kKernels[] = {
    {"Conv", conv},
    {"ConvTranspose", conv_transpose},
    {"DeformConv", deform_conv},
    {"Resize", resize},
    {"GridSample", grid_sample},
    {"AffineGrid", affine_grid},
    {"Col2Im", col2im},
    {"MaxPool", max_pool},
    {"AveragePool", average_pool},
    {"LpPool", lp_pool},
    {"MaxUnpool", max_unpool},
    {"GlobalAveragePool", global_average_pool},
    {"GlobalMaxPool", global_max_pool},
    {"GlobalLpPool", global_lp_pool},
};

}  // namespace

void conv(KernelContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& w = context.input(1);
  const auto geometry = graph::read_convolution(context.attributes(), x.shape(), w.shape());
  run(context, geometry.output_shape(),
      [&](const StorePlane& store) { convolve(geometry, x.to_double(), w.to_double(), store); });
}

void conv_transpose(KernelContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& w = context.input(1);
  const auto geometry = graph::read_transposed_convolution(context.attributes(), x.shape(), w.shape());
  Shape shape{geometry.batch, geometry.in_channels};
  for (const graph::WindowAxis& axis : geometry.axes) shape.push_back(axis.input);
  run(context, std::move(shape),
      [&](const StorePlane& store) { convolve_transposed(geometry, x.to_double(), w.to_double(), store); });
}

std::span<const KernelEntry> convolution_kernels() { return kKernels; }

}  // namespace hone::reference
