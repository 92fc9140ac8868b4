// Conv and ConvTranspose as at::conv1d..3d and at::conv_transpose1d..3d.
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/conv3d.h>
#include <ATen/ops/conv_transpose1d.h>
#include <ATen/ops/conv_transpose2d.h>
#include <ATen/ops/conv_transpose3d.h>

#include "backend/torch/plugin/ops/window.hpp"

namespace hone::backend::aten {
namespace {

/// Spatial dimensions of the weights, input 1.
Window weights_window(const Lowering& lowering) {
  std::vector<int64_t> kernel = spatial_dims(lowering, lowering.node.input(1));
  if (kernel.empty() || kernel.size() > 3) {
    lowering.refuse("PyTorch convolves 1 to 3 axes, not {}", kernel.size());
  }
  return window_of(lowering, std::move(kernel));
}

Operation convolution(const Lowering& lowering) {
  const Window window = weights_window(lowering);
  const bool even = window.even();
  const std::vector<int64_t> outer = pad_list(window.begin, window.end);
  const std::vector<int64_t> inner = even ? window.begin : std::vector<int64_t>(window.rank(), 0);
  const int64_t groups = lowering.attributes().get_int("group");
  const auto call = [&](auto convolve) {
    return single([=](const Arguments& in) {
      const at::Tensor x = even ? in[0] : at::constant_pad_nd(in[0], outer);
      return convolve(x, in[1], in.has(2) ? in[2] : at::Tensor(), window.strides, inner, window.dilations,
                      groups);
    });
  };
  if (window.rank() == 1) return call([](auto&&... a) { return at::conv1d(a...); });
  if (window.rank() == 2) return call([](auto&&... a) { return at::conv2d(a...); });
  return call([](auto&&... a) { return at::conv3d(a...); });
}

/// Derives pads from output_shape or auto_pad as ONNX's ConvTranspose does: their total is the excess length
/// of the full result, and SAME_UPPER takes the larger half from the end.
void pad_transposed(const Lowering& lowering, const std::vector<int64_t>& extra, Window& window) {
  const std::string& automatic = lowering.attributes().get_string("auto_pad");
  std::vector<int64_t> wanted = lowering.ints_or("output_shape", {});
  const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  if (wanted.empty() && !same) return;
  const std::vector<int64_t> dims = spatial_dims(lowering, lowering.node.input(0));
  for (size_t i = 0; i < window.rank(); ++i) {
    const int64_t size =
        wanted.empty() ? dims[i] * window.strides[i] : wanted[wanted.size() - window.rank() + i];
    const int64_t total = window.strides[i] * (dims[i] - 1) + extra[i] + window.reach(i) - size;
    if (total < 0) lowering.refuse("its output is larger than PyTorch's transposed convolution makes it");
    window.begin[i] = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
    window.end[i] = total - window.begin[i];
  }
}

Operation transposed_convolution(const Lowering& lowering) {
  Window window = weights_window(lowering);
  const std::vector<int64_t> extra =
      lowering.ints_or("output_padding", std::vector<int64_t>(window.rank(), 0));
  pad_transposed(lowering, extra, window);
  const bool even = window.even();
  const std::vector<int64_t> inner = even ? window.begin : std::vector<int64_t>(window.rank(), 0);
  // Uneven pads crop the full result, by negative padding.
  std::vector<int64_t> crop = pad_list(window.begin, window.end);
  for (int64_t& value : crop) value = -value;
  const int64_t groups = lowering.attributes().get_int("group");
  const auto call = [&](auto convolve) {
    return single([=](const Arguments& in) {
      const at::Tensor y = convolve(in[0], in[1], in.has(2) ? in[2] : at::Tensor(), window.strides, inner,
                                    extra, groups, window.dilations);
      return even ? y : at::constant_pad_nd(y, crop);
    });
  };
  if (window.rank() == 1) return call([](auto&&... a) { return at::conv_transpose1d(a...); });
  if (window.rank() == 2) return call([](auto&&... a) { return at::conv_transpose2d(a...); });
  return call([](auto&&... a) { return at::conv_transpose3d(a...); });
}

constexpr LowerEntry kLowerings[] = {
    {"Conv", convolution},
    {"ConvTranspose", transposed_convolution},
};

}  // namespace

std::span<const LowerEntry> convolution_lowerings() { return kLowerings; }

}  // namespace hone::backend::aten
