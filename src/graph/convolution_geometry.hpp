// Sliding windows of convolutions and pools: kernel, stride, dilation and explicit padding per spatial axis,
// after auto_pad and ceil_mode are resolved. Shape rules, reference kernels, passes and devices share this
// code, so that all of them agree on every output size.
//
// Formulas: ONNX operator specifications of Conv, ConvTranspose and MaxPool (opset 22).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/attribute.hpp"
#include "graph/dim.hpp"

namespace hone::graph {

enum class AutoPad { kNotSet, kSameUpper, kSameLower, kValid };

/// Window attributes, validated, before input sizes are known. Every list has one entry per spatial axis.
struct Window {
  AutoPad auto_pad = AutoPad::kNotSet;
  bool ceil_mode = false;
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  /// The values of `pads`; zeros if auto_pad is set.
  std::vector<int64_t> pads_begin;
  std::vector<int64_t> pads_end;

  size_t rank() const { return kernel.size(); }
  /// Number of input elements from the first to the last of a window, including the gaps of the dilation.
  int64_t extent(size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
};

/// One spatial axis after its sizes are known.
struct WindowAxis {
  int64_t input = 0;
  int64_t output = 0;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_begin = 0;
  int64_t pad_end = 0;

  int64_t extent() const { return (kernel - 1) * dilation + 1; }
  /// Input index of a tap of the window at output position `o`; outside [0, input) it is padding.
  int64_t position(int64_t o, int64_t tap) const { return o * stride + tap * dilation - pad_begin; }
  /// True if every output is the input at the same position: kernel 1, stride 1, no padding.
  bool pointwise() const { return kernel == 1 && stride == 1 && pad_begin == 0 && pad_end == 0; }
};

/// A half-open range of indices.
struct Range {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end > begin ? end - begin : 0; }
};

/// Taps of the window at output position `o` that fall inside [-before, input + after).
Range taps_inside(const WindowAxis& axis, int64_t o, int64_t before = 0, int64_t after = 0);
/// Output positions at which `tap` falls inside the input.
Range outputs_inside(const WindowAxis& axis, int64_t tap);

/// Reads auto_pad, strides, dilations, pads and ceil_mode (those that the operator has); empty lists mean 1,
/// and 0 for pads. Throws bad input that names the attribute if a list does not have one entry per axis (two
/// for pads), if a kernel size, stride or dilation is not positive, if a pad is negative, or if the extent of
/// a window overflows.
Window read_window(const Attributes& attributes, std::vector<int64_t> kernel);

/// Attribute kernel_shape, or the spatial part of a weight's shape [out, in / group, kernel...]. Throws bad
/// input if both are known and differ; returns nullopt if neither is known.
std::optional<std::vector<int64_t>> kernel_sizes(const Attributes& attributes,
                                                 const std::optional<Dims>& weight);

/// Explicit padding and output size for an input of this size. Throws bad input if no window fits.
WindowAxis resolve_axis(const Window& window, size_t axis, int64_t input);
std::vector<WindowAxis> resolve_window(const Window& window, std::span<const int64_t> spatial);
/// Output size for an input that may be symbolic; a symbol is kept if the size does not change.
Dim window_output(const Window& window, size_t axis, const Dim& input);

/// The geometry of a Conv or a related operator (FusedConv, ConvInteger, QLinearConv).
struct Convolution {
  int64_t batch = 0;
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  int64_t group = 1;
  std::vector<WindowAxis> axes;

  int64_t group_inputs() const { return in_channels / group; }
  int64_t group_outputs() const { return out_channels / group; }
  int64_t kernel_size() const;
  /// [batch, out_channels, spatial...].
  std::vector<int64_t> output_shape() const;
};

/// Geometry of a Conv on x [N, C, spatial...] and w [M, C / group, kernel...]. Throws bad input that names
/// the field if shapes and attributes do not fit together.
Convolution read_convolution(const Attributes& attributes, std::span<const int64_t> x,
                             std::span<const int64_t> w);

/// The axes of a pool with these attributes of x [N, C, spatial...].
std::vector<WindowAxis> pool_axes(const Attributes& pool, std::span<const int64_t> x);

/// Geometry of a ConvTranspose on x [N, C, spatial...] and w [C, M / group, kernel...]. It is described as
/// the forward convolution whose gradient it is: `input` is the axis of its output, `output` the axis of its
/// input, in_channels are M and out_channels are C.
Convolution read_transposed_convolution(const Attributes& attributes, std::span<const int64_t> x,
                                        std::span<const int64_t> w);
/// Output size of one axis of a ConvTranspose whose input may be symbolic.
Dim transposed_output(const Window& window, const Attributes& attributes, size_t axis, const Dim& input);

}  // namespace hone::graph
